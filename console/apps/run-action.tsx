import { type ReactNode, useState } from 'react';
import type { z } from 'zod';
import { useLocation } from 'wouter';
import type { AppAction, CreatedInvocation } from '../../contract/apps.ts';
import { call, fieldError } from '../calls/call.ts';
import { Button } from '../parts/button.tsx';
import { FormButton } from '../parts/form-button.tsx';
import { type FormValues, SelectInput, SwitchInput, TextInput } from '../parts/form.tsx';
import { appWords as words } from '../words/apps.ts';
import { fill } from '../words/language.ts';
import { fieldsOf, type PayloadField, payloadOf } from './payload.ts';

/** Runs an action of an app. Its payload is entered as JSON, or in a form if its schema allows. */
export function RunAction({ app, version, action }: { app: string; version: string; action: AppAction }): ReactNode {
  const [, navigate] = useLocation();
  const fields = fieldsOf(action.input_schema);
  const [isJson, setJson] = useState(false);
  const asFields = isJson ? null : fields;
  return (
    <FormButton
      label={words.run}
      title={fill(words.runTitle, { action: action.name })}
      done={words.started}
      invalidates={['/invocations']}
      onSubmit={async (values) => {
        const payload = asFields === null ? textOf(values) : JSON.stringify(entered(asFields, values));
        const made = await call<z.infer<typeof CreatedInvocation>>('POST', '/invocations', {
          app_name: app,
          version,
          action_name: action.name,
          async: true,
          ...(payload === '' ? {} : { payload }),
        });
        navigate(`/invocations/${made.id}`);
      }}
    >
      {asFields === null ? (
        <TextInput name="payload" label={words.payload} hint={words.payloadHint} rows={8} />
      ) : (
        asFields.map((field) => <PayloadInput key={field.property} field={field} />)
      )}
      {fields === null ? null : (
        <Button kind="quiet" onPress={() => setJson(!isJson)}>
          {isJson ? words.asForm : words.asJson}
        </Button>
      )}
    </FormButton>
  );
}

function PayloadInput({ field }: { field: PayloadField }): ReactNode {
  const { property, kind, required, hint, initial, options } = field;
  const common = { name: `payload.${property}`, label: property, ...(hint === undefined ? {} : { hint }) };
  switch (kind) {
    case 'switch':
      return <SwitchInput {...common} initial={initial === 'true'} />;
    case 'choice': {
      const choices = [...(required ? [] : ['']), ...options];
      return (
        <SelectInput {...common} initial={initial} options={choices.map((value) => ({ value, label: value || '–' }))} />
      );
    }
    case 'number':
      return <TextInput {...common} required={required} initial={initial} inputMode="numeric" />;
    case 'text':
      return <TextInput {...common} required={required} initial={initial} />;
  }
}

/** The entered JSON. Throws a {@link CallError} for its field if it is invalid. */
function textOf({ payload = '' }: FormValues): string {
  const text = payload.trim();
  try {
    if (text !== '') JSON.parse(text);
    return text;
  } catch {
    throw fieldError('payload', words.payloadFault);
  }
}

function entered(fields: readonly PayloadField[], values: FormValues): Record<string, unknown> {
  const payload = payloadOf(fields, values);
  const wrong = Object.entries(payload).find(([, value]) => Number.isNaN(value));
  if (wrong !== undefined) throw fieldError(`payload.${wrong[0]}`, words.numberFault);
  return payload;
}
