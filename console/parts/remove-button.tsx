import { useQueryClient } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useLocation } from 'wouter';
import { call } from '../calls/call.ts';
import { useAction } from './action.tsx';
import { ConfirmButton } from './dialog.tsx';

/**
 * Deletes what a page shows, once the person has confirmed it, and leads to the list that it stood in. What was read of it is
 * forgotten: read again it would not be found.
 */
export function RemoveButton({
  path,
  list,
  leadsTo = list,
  words,
}: {
  /** Of the resource. */
  path: string;
  /** The operation that lists its kind, which is read again. */
  list: string;
  /** The list's page, where its path is another than that of `list`. */
  leadsTo?: string;
  words: { remove: string; removeTitle: string; removeText: string; removed: string };
}): ReactNode {
  const client = useQueryClient();
  const [, navigate] = useLocation();
  const perform = useAction([list]);
  return (
    <ConfirmButton
      label={words.remove}
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
