import type { ReactNode } from 'react';
import { CallError } from '../calls/call.ts';
import { type FormValues, TextInput } from '../parts/form.tsx';
import { limitWords as words } from '../words/limits.ts';

/** A field for a limit, which is a whole number; empty where there is none. */
export function LimitInput({
  name,
  label,
  hint = words.empty,
  initial,
}: {
  name: string;
  label: string;
  hint?: string;
  initial: number | null;
}): ReactNode {
  return (
    <TextInput
      name={name}
      label={label}
      hint={hint}
      inputMode="numeric"
      initial={initial === null ? '' : String(initial)}
    />
  );
}

/** The limit that was entered; null for none. Throws a {@link CallError} for what is no number, as the API would. */
export function limitOf(values: FormValues, name: string): number | null {
  const text = (values[name] ?? '').trim();
  if (text === '') return null;
  if (/^\d+$/.test(text)) return Number(text);
  const message = `${name}: ${words.number}`;
  throw new CallError(400, { code: 'invalid_input', message, details: [{ code: 'invalid_input', message }] });
}
