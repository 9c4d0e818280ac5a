import type { ReactNode } from 'react';
import { fill, inLanguage } from '../words/language.ts';
import { NativeField, useFieldErrors } from './form.tsx';

const words = inLanguage({ en: { entry: 'Entry {number}: {rule}' }, de: { entry: 'Eintrag {number}: {rule}' } });

/** A list of short texts, one per line; {@link linesOf} parses it. Errors of entries (`name.2`) are shown below. */
export function LinesInput({
  name,
  label,
  hint,
  initial,
}: {
  name: string;
  label: string;
  hint: string;
  initial: readonly string[];
}): ReactNode {
  const errors = Object.entries(useFieldErrors(name)).map(([path, rule]) => {
    const index = Number(path.slice(name.length + 1));
    return path === name || !Number.isInteger(index) ? rule : fill(words.entry, { number: index + 1, rule });
  });
  return (
    <NativeField label={label} hint={hint} errors={errors}>
      {(attributes) => (
        <textarea
          {...attributes}
          className="input"
          name={name}
          rows={3}
          defaultValue={initial.join('\n')}
          spellCheck={false}
          autoCapitalize="none"
        />
      )}
    </NativeField>
  );
}

/** The non-empty lines. */
export function linesOf(text: string | undefined): string[] {
  return (text ?? '')
    .split(/[\n,]/)
    .map((line) => line.trim())
    .filter((line) => line !== '');
}
