import { createContext, type ReactNode, useContext, useId, useState } from 'react';
import { FieldError, Form as AriaForm, Input, Label, Text, TextArea, TextField } from 'react-aria-components';
import { CallError } from '../calls/call.ts';
import { fieldErrorText } from '../words/field-errors.ts';
import { inLanguage } from '../words/language.ts';
import { Button } from './button.tsx';
import { useCanAct } from './roles.tsx';
import { errorMessage } from './states.tsx';

const words = inLanguage({
  en: { check: 'Check the marked fields' },
  de: { check: 'Prüfe die markierten Felder' },
});

/** Form values by field name: text, or `on` for switches that are on. */
export type FormValues = Record<string, string>;

/**
 * Field errors of the last response. They stay until the next one: if they disappeared on blur, the submit button would move away
 * from under the pointer.
 */
const Faults = createContext<Readonly<Record<string, string>>>({});

/**
 * A form for one operation. If `onSubmit` rejects, each error is shown at the field whose `name` it names (`config.host`), any
 * other above the button. Read-only for people who may not act here.
 */
export function Form({
  submit,
  onSubmit,
  children,
  secondary,
}: {
  submit: string;
  onSubmit: (values: FormValues, files: Record<string, File>) => Promise<unknown>;
  children: ReactNode;
  /** Next to the submit button, such as Cancel. */
  secondary?: ReactNode;
}): ReactNode {
  const canAct = useCanAct();
  const [refusal, setRefusal] = useState<Refusal | null>(null);
  const [isPending, setPending] = useState(false);
  const send = async (form: HTMLFormElement): Promise<void> => {
    const values: FormValues = {};
    const files: Record<string, File> = {};
    for (const [name, value] of new FormData(form)) {
      if (typeof value === 'string') values[name] = value;
      else if (value.name !== '') files[name] = value;
    }
    setPending(true);
    setRefusal(null);
    try {
      await onSubmit(values, files);
    } catch (caught) {
      setRefusal(refusalOf(caught, form));
    } finally {
      setPending(false);
    }
  };
  return (
    <AriaForm
      className="form"
      onSubmit={(event) => {
        event.preventDefault();
        if (canAct && !isPending) void send(event.currentTarget);
      }}
    >
      <Faults value={refusal?.faults ?? NONE}>
        {canAct ? (
          children
        ) : (
          <fieldset className="form-fields" disabled>
            {children}
          </fieldset>
        )}
      </Faults>
      {refusal === null ? null : (
        <p className="form-error" role="alert">
          {refusal.text}
        </p>
      )}
      <div className="actions">
        {secondary}
        {canAct ? (
          <Button kind="primary" type="submit" isPending={isPending}>
            {submit}
          </Button>
        ) : null}
      </div>
    </AriaForm>
  );
}

/** The errors of a rejected form: at its fields, and above its button. */
interface Refusal {
  faults: Readonly<Record<string, string>>;
  text: string;
}

const NONE: Refusal['faults'] = {};

/** Errors in the person's language. Errors of fields that the form does not have are shown with the field's path. */
function refusalOf(error: unknown, form: HTMLFormElement): Refusal {
  const said = error instanceof CallError ? Object.entries(error.fields) : [];
  const faults = Object.fromEntries(said.map(([path, rule]) => [path, fieldErrorText(rule)]));
  const names = Array.from(form.elements, (element) => element.getAttribute('name') ?? '');
  const isPlaced = (path: string): boolean => names.some((name) => name === path || path.startsWith(`${name}.`));
  const others = Object.entries(faults).filter(([path]) => !isPlaced(path));
  if (others.length > 0) return { faults, text: others.map(([path, fault]) => `${path}: ${fault}`).join('. ') };
  return { faults, text: said.length > 0 ? words.check : errorMessage(error) };
}

/** Errors of a field and its elements (`name`, `name.0`), by path. */
export function useFieldErrors(name: string): Readonly<Record<string, string>> {
  const all = Object.entries(useContext(Faults));
  return Object.fromEntries(all.filter(([path]) => path === name || path.startsWith(`${name}.`)));
}

interface FieldProps {
  /** Path of the field in the request body. */
  name: string;
  label: string;
  hint?: string;
  required?: boolean;
}

/** A text input. Use `type="password"` for secrets, which the API never returns. */
export function TextInput({
  name,
  label,
  hint,
  required = false,
  type = 'text',
  initial = '',
  autoComplete = 'off',
  inputMode,
}: FieldProps & {
  type?: 'text' | 'password' | 'email' | 'url' | 'number' | 'search';
  initial?: string;
  autoComplete?: string;
  inputMode?: 'numeric';
}): ReactNode {
  const fault = useContext(Faults)[name];
  return (
    <TextField
      className="field"
      validationBehavior="aria"
      isInvalid={fault !== undefined}
      name={name}
      type={type}
      isRequired={required}
      defaultValue={initial}
      autoComplete={autoComplete}
      {...(inputMode === undefined ? {} : { inputMode })}
    >
      <Label>{label}</Label>
      <Input className="input" />
      {hint === undefined ? null : (
        <Text slot="description" className="hint">
          {hint}
        </Text>
      )}
      <FieldError className="field-error">{fault}</FieldError>
    </TextField>
  );
}

/** A multi-line text input. */
export function AreaInput({
  name,
  label,
  hint,
  initial = '',
  rows = 4,
  required = false,
}: FieldProps & { initial?: string; rows?: number }): ReactNode {
  const fault = useContext(Faults)[name];
  return (
    <TextField
      className="field"
      validationBehavior="aria"
      isInvalid={fault !== undefined}
      name={name}
      isRequired={required}
      defaultValue={initial}
      autoComplete="off"
    >
      <Label>{label}</Label>
      <TextArea className="input input-code" rows={rows} spellCheck={false} />
      {hint === undefined ? null : (
        <Text slot="description" className="hint">
          {hint}
        </Text>
      )}
      <FieldError className="field-error">{fault}</FieldError>
    </TextField>
  );
}

/** A file input. Passed in `files` of {@link Form}; missing if no file was chosen. */
export function FileInput({ name, label, hint, accept }: FieldProps & { accept: string }): ReactNode {
  const fault = useContext(Faults)[name];
  const id = useId();
  const said = [...(hint === undefined ? [] : [`${id}-hint`]), ...(fault === undefined ? [] : [`${id}-fault`])];
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <input
        id={id}
        className="input"
        type="file"
        name={name}
        accept={accept}
        required
        aria-invalid={fault !== undefined}
        aria-describedby={said.join(' ')}
      />
      {hint === undefined ? null : (
        <span id={`${id}-hint`} className="hint">
          {hint}
        </span>
      )}
      {fault === undefined ? null : (
        <span id={`${id}-fault`} className="field-error">
          {fault}
        </span>
      )}
    </div>
  );
}

/** A native select, for which every phone has a good picker. */
export function SelectInput({
  name,
  label,
  hint,
  options,
  initial,
  onChange,
}: FieldProps & {
  options: readonly { value: string; label: string }[];
  initial?: string;
  onChange?: (value: string) => void;
}): ReactNode {
  const id = useId();
  const faults = Object.values(useFieldErrors(name));
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <select
        id={id}
        className="input"
        name={name}
        defaultValue={initial}
        aria-invalid={faults.length > 0}
        aria-describedby={`${id}-hint ${id}-fault`}
        onChange={(event) => onChange?.(event.target.value)}
      >
        {options.map(({ value, label: text }) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
      </select>
      <span id={`${id}-hint`} className="hint">
        {hint}
      </span>
      <span id={`${id}-fault`} className="field-error">
        {faults.join('. ')}
      </span>
    </div>
  );
}

/** A switch: `on` or missing in {@link FormValues}. */
export function SwitchInput({
  name,
  label,
  hint,
  initial = false,
}: Omit<FieldProps, 'required'> & { initial?: boolean }): ReactNode {
  return (
    <div className="field">
      <label className="switch">
        <input type="checkbox" role="switch" name={name} value="on" defaultChecked={initial} />
        <span className="switch-track" aria-hidden="true" />
        {label}
      </label>
      {hint === undefined ? null : <span className="hint">{hint}</span>}
    </div>
  );
}
