import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { useLocation } from 'wouter';
import { call } from '../calls/call.ts';
import { commonWords } from '../words/common.ts';
import { Button } from './button.tsx';
import { DialogBox } from './dialog.tsx';
import { useCanAct } from './roles.tsx';
import { toastError, toastSuccess } from './toasts.tsx';

/**
 * Performs an operation, then toasts `done`. Queries of the paths in `invalidates` are refetched however it ended: a refusal may have
 * changed what they show. Rejects if the operation fails; `ActionButton` and `ConfirmButton` show that.
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

/** Runs work with its pending state; failures are shown as toasts. */
function usePending(): [isPending: boolean, run: (work: () => Promise<unknown>) => void] {
  const [isPending, setPending] = useState(false);
  const run = async (work: () => Promise<unknown>): Promise<void> => {
    setPending(true);
    try {
      await work();
    } catch (error) {
      toastError(error);
    } finally {
      setPending(false);
    }
  };
  return [isPending, (work) => void run(work)];
}

/** A button that acts at once and is pending until that is done. Hidden from people who may not act on this page. */
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
  const [isPending, run] = usePending();
  if (!canAct) return null;
  return (
    <Button kind={kind} isPending={isPending} onPress={() => run(onAct)}>
      {label}
    </Button>
  );
}

/**
 * A button for what cannot be undone: it asks before it acts. If `onConfirm` rejects, the error is shown and the dialog stays open.
 * Hidden from people who may not act on this page.
 */
export function ConfirmButton({
  label = commonWords.remove,
  title,
  text,
  kind = 'danger',
  onConfirm,
}: {
  label?: string;
  title: string;
  text: string;
  kind?: 'danger' | 'plain';
  onConfirm: () => Promise<unknown>;
}): ReactNode {
  const canAct = useCanAct();
  const [isOpen, setOpen] = useState(false);
  const [isPending, run] = usePending();
  const confirm = async (): Promise<void> => {
    await onConfirm();
    setOpen(false);
  };
  if (!canAct) return null;
  return (
    <>
      <Button kind={kind} onPress={() => setOpen(true)}>
        {label}
      </Button>
      <DialogBox alert title={title} isOpen={isOpen} onClose={() => setOpen(false)}>
        <p>{text}</p>
        <div className="actions">
          <Button onPress={() => setOpen(false)}>{commonWords.cancel}</Button>
          <Button kind={kind === 'danger' ? 'danger' : 'primary'} isPending={isPending} onPress={() => run(confirm)}>
            {label}
          </Button>
        </div>
      </DialogBox>
    </>
  );
}

/**
 * Deletes the resource of a page after confirmation and returns to its list. Its cached queries are dropped: refetching them would
 * fail with "not found".
 */
export function RemoveButton({
  path,
  list,
  leadsTo = list,
  words,
}: {
  /** Path of the resource. */
  path: string;
  /** Path of the operation that lists such resources, which is refetched. */
  list: string;
  /** The list's page, if its path differs from `list`. */
  leadsTo?: string;
  words: { removeTitle: string; removeText: string; removed: string };
}): ReactNode {
  const client = useQueryClient();
  const [, navigate] = useLocation();
  const perform = useAction([list]);
  return (
    <ConfirmButton
      title={words.removeTitle}
      text={words.removeText}
      onConfirm={() =>
        perform(words.removed, async () => {
          await call('DELETE', path);
          navigate(leadsTo);
          client.removeQueries({ queryKey: [path] });
        })
      }
    />
  );
}

/** A button that copies `text` to the clipboard, then toasts `done`. */
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
