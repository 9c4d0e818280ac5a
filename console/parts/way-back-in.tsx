import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { sessionQuery } from '../calls/session.ts';
import { overviewWords as words } from '../words/overview.ts';
import { LinkButton } from './button.tsx';

/** Asks whoever a one-time link has signed in for something that signs them in again; nothing for all others. */
export function SignInMethodNote(): ReactNode {
  const session = useQuery(sessionQuery).data;
  if (session === undefined || session === null) return null;
  if (session.has_password || session.has_oidc || session.passkeys > 0) return null;
  return (
    <div className="note note-action">
      <p>{words.wayInText}</p>
      <LinkButton href="/account">{words.wayIn}</LinkButton>
    </div>
  );
}
