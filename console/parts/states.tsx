import type { ReactNode } from 'react';
import { CallError } from '../calls/call.ts';
import { inLanguage } from '../words/language.ts';
import { errorText } from '../words/error-messages.ts';
import { Button } from './button.tsx';

const words = inLanguage({
  en: { loading: 'Loading …', failed: 'This could not be loaded', again: 'Try again' },
  de: { loading: 'Wird geladen …', failed: 'Das konnte nicht geladen werden', again: 'Noch einmal' },
});

/** Loading indicator. It appears with a short delay, so that fast responses do not flicker. */
export function Loading(): ReactNode {
  return (
    <p className="loading" role="status">
      {words.loading}
    </p>
  );
}

/** Empty state: what would be here, and what to do first. */
export function Empty({ title, text, action }: { title: string; text: string; action?: ReactNode }): ReactNode {
  return (
    <div className="empty">
      <h2>{title}</h2>
      <p>{text}</p>
      {action}
    </div>
  );
}

/** Error state with a retry button. */
export function Failed({ error, retry }: { error: unknown; retry: () => void }): ReactNode {
  return (
    <div className="empty" role="alert">
      <h2>{words.failed}</h2>
      <p>{errorMessage(error)}</p>
      <Button onPress={retry}>{words.again}</Button>
    </div>
  );
}

/** The message to show for an error. */
export function errorMessage(error: unknown): string {
  return error instanceof CallError ? errorText(error.code, error.message) : words.failed;
}
