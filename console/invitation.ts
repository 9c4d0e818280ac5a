import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { call, CallError } from './calls/call.ts';
import type { Session } from './calls/session.ts';
import { toastSuccess, toastError } from './parts/toasts.tsx';
import { inLanguage } from './words/language.ts';

const words = inLanguage({
  en: { accepted: 'You have joined the organization.' },
  de: { accepted: 'Du gehörst jetzt zur Organisation.' },
});

/**
 * Accepts the invitation of the opened link. Someone who has an account must sign in to it first; the invitation is kept until
 * they have.
 */
export function useInvitation(code: string | null, session: Session | null | undefined): void {
  const client = useQueryClient();
  const [open, setOpen] = useState(code);
  const person = session === undefined ? undefined : (session?.user.id ?? null);
  useEffect(() => {
    if (open === null || person === undefined) return;
    const accept = async (): Promise<void> => {
      try {
        await call('POST', '/session/invitation', { code: open });
        setOpen(null);
        // The address may still name the previous organization.
        history.replaceState(null, '', '/console');
        await client.resetQueries();
        toastSuccess(words.accepted);
      } catch (error) {
        const waits = person === null && error instanceof CallError && error.status === 401;
        if (!waits) setOpen(null);
        toastError(error);
      }
    };
    void accept();
  }, [client, open, person]);
}
