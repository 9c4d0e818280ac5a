import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { Button } from './button.tsx';
import { useCanAct } from './roles.tsx';
import { toastSuccess, toastError } from './toasts.tsx';

/**
 * Does something over the API, and then tells `done`. Reads of `invalidates` (paths) are made again, however it ended: a refusal may have
 * changed what they show. Rejects when it fails; whoever calls it tells that (`ActionButton`, `ConfirmButton`).
 */
export function useAction(
  invalidates: readonly string[],
): (done: string | null, work: () => Promise<unknown>) => Promise<void> {
  const client = useQueryClient();
  return async (done, work) => {
    try {
      await work();
    } finally {
      await Promise.all(invalidates.map((path) => client.invalidateQueries({ queryKey: [path] })));
    }
    if (done !== null) toastSuccess(done);
  };
}

/** A button, for who may act here, that does something at once: it waits until that is over, and tells what failed. */
export function ActionButton({
  label,
  kind = 'plain',
  onAct,
}: {
  label: string;
  kind?: 'plain' | 'primary' | 'quiet';
  onAct: () => Promise<unknown>;
}): ReactNode {
  const canAct = useCanAct();
  const [isPending, setPending] = useState(false);
  const act = async (): Promise<void> => {
    setPending(true);
    try {
      await onAct();
    } catch (error) {
      toastError(error);
    } finally {
      setPending(false);
    }
  };
  if (!canAct) return null;
  return (
    <Button kind={kind} isPending={isPending} onPress={() => void act()}>
      {label}
    </Button>
  );
}
