import type { ReactNode } from 'react';
import { Button } from './button.tsx';
import { toastSuccess, toastError } from './toasts.tsx';

/** A button that copies a text, and then tells `done`. */
export function CopyButton({
  text,
  label,
  done,
  kind = 'plain',
}: {
  text: string;
  label: string;
  done: string;
  kind?: 'plain' | 'quiet';
}): ReactNode {
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(text);
    toastSuccess(done);
  };
  return (
    <Button kind={kind} onPress={() => void copy().catch(toastError)}>
      {label}
    </Button>
  );
}
