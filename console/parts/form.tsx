import { createContext, type ReactNode, useContext, useId, useState } from 'react';
import { FieldError, Form as AriaForm, Input, Label, Text, TextArea, TextField } from 'react-aria-components';
import { CallError } from '../calls/call.ts';
import { fieldErrorText } from '../words/field-errors.ts';
import { inLanguage } from '../words/language.ts';
import { Button } from './button.tsx';
import { useCanAct } from './roles.tsx';
import { errorMessage } from './states.tsx';

const words = inLanguage({ en: { check: 'Check the marked fields' }, de: { check: 'Prüfe die markierten Felder' } });

/** Form values by field name: text, or `on` for switches that are on. */
export type FormValues = Record<string, string>;

/**
 * Field errors of the last response. They stay until the next one: if they disappeared on blur, the submit button would move away
 * from under the pointer.
 */
const FieldErrors = createContext<Readonly<Record<string, string>>>({});

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
  const [rejection, setRejection] = useState<Rejection | null>(null);
  const [isPending, setPending] = useState(false);
  const send = async (form: HTMLFormElement): Promise<void> => {
    const values: FormValues = {};
    const files: Record<string, File> = {};
    for (const [name, value] of new FormData(form)) {
      if (typeof value === 'string') values[name] = value;
      else if (value.name !== '') files[name] = value;
    }
    setPending(true);
    setRejection(null);
    try {
      await onSubmit(values, files);
    } catch (caught) {
      setRejection(rejectionOf(caught, form));
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
      <FieldErrors value={rejection?.fields ?? NONE}>
        {canAct ? (
          children
        ) : (
          <fieldset className="form-fields" disabled>
            {children}
          </fieldset>
        )}
      </FieldErrors>
      {rejection === null ? null : (
        <p className="form-error" role="alert">
          {rejection.text}
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
interface Rejection {
  fields: Readonly<Record<string, string>>;
  text: string;
}

const NONE: Rejection['fields'] = {};

/** Errors in the person's language. Errors of fields that the form does not have are shown with the field's path. */
function rejectionOf(error: unknown, form: HTMLFormElement): Rejection {
  const errors = error instanceof CallError ? Object.entries(error.fields) : [];
  const fields = Object.fromEntries(errors.map(([path, rule]) => [path, fieldErrorText(rule)]));
  const names = Array.from(form.elements, (element) => element.getAttribute('name') ?? '');
  const isPlaced = (path: string): boolean => names.some((name) => name === path || path.startsWith(`${name}.`));
  const others = Object.entries(fields).filter(([path]) => !isPlaced(path));
  if (others.length > 0) return { fields, text: others.map(([path, message]) => `${path}: ${message}`).join('. ') };
  return { fields, text: errors.length > 0 ? words.check : errorMessage(error) };
}

/** Errors of a field and its elements (`name`, `name.0`), by path. */
export function useFieldErrors(name: string): Readonly<Record<string, string>> {
  const all = Object.entries(useContext(FieldErrors));
  return Object.fromEntries(all.filter(([path]) => path === name || path.startsWith(`${name}.`)));
}

interface FieldProps {
  /** Path of the field in the request body. */
  name: string;
  label: string;
  hint?: string;
  required?: boolean;
}

/** A text input; with `rows`, a multi-line one for code. Use `type="password"` for secrets, which the API never returns. */
export function TextInput({
  name,
  label,
  hint,
  required = false,
  type = 'text',
  initial = '',
  autoComplete = 'off',
  inputMode,
  rows,
}: FieldProps & {
  type?: 'text' | 'password' | 'email' | 'url' | 'number' | 'search';
  initial?: string;
  autoComplete?: string;
  inputMode?: 'numeric';
  rows?: number;
}): ReactNode {
  const error = useContext(FieldErrors)[name];
  return (
    <TextField
      className="field"
      validationBehavior="aria"
      isInvalid={error !== undefined}
      name={name}
      type={type}
      isRequired={required}
      defaultValue={initial}
      autoComplete={autoComplete}
      {...(inputMode === undefined ? {} : { inputMode })}
    >
      <Label>{label}</Label>
      {rows === undefined ? (
        <Input className="input" />
      ) : (
        <TextArea className="input input-code" rows={rows} spellCheck={false} />
      )}
      {hint === undefined ? null : (
        <Text slot="description" className="hint">
          {hint}
        </Text>
      )}
      <FieldError className="field-error">{error}</FieldError>
    </TextField>
  );
}

/** A labeled native control with its hint and errors; `children` renders the control with the given attributes. */
export function NativeField({
  label,
  hint,
  errors,
  children,
}: {
  label: string;
  hint: string | undefined;
  errors: readonly string[];
  children: (attributes: { id: string; 'aria-invalid': boolean; 'aria-describedby': string }) => ReactNode;
}): ReactNode {
  const id = useId();
  const describedBy = [hint === undefined ? '' : `${id}-hint`, errors.length === 0 ? '' : `${id}-error`];
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      {children({ id, 'aria-invalid': errors.length > 0, 'aria-describedby': describedBy.join(' ').trim() })}
      {hint === undefined ? null : (
        <span id={`${id}-hint`} className="hint">
          {hint}
        </span>
      )}
      {errors.length === 0 ? null : (
        <span id={`${id}-error`} className="field-error">
          {errors.map((error) => (
            <span key={error}>
              {error}
              <br />
            </span>
          ))}
        </span>
      )}
    </div>
  );
}

/** A file input. Passed in `files` of {@link Form}; missing if no file was chosen. */
export function FileInput({ name, label, hint, accept }: FieldProps & { accept: string }): ReactNode {
  return (
    <NativeField label={label} hint={hint} errors={Object.values(useFieldErrors(name))}>
      {(attributes) => <input {...attributes} className="input" type="file" name={name} accept={accept} required />}
    </NativeField>
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
  return (
    <NativeField label={label} hint={hint} errors={Object.values(useFieldErrors(name))}>
      {(attributes) => (
        <select
          {...attributes}
          className="input"
          name={name}
          defaultValue={initial}
          onChange={(event) => onChange?.(event.target.value)}
        >
          {options.map(({ value, label: text }) => (
            <option key={value} value={value}>
              {text}
            </option>
          ))}
        </select>
      )}
    </NativeField>
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
