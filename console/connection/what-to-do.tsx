import type { ReactNode } from 'react';
import type { ManagedAuth } from '../../contract/connections.ts';
import { useCanAct } from '../parts/roles.tsx';
import { connectionWords } from '../words/connections.ts';
import { loginFailureText } from '../words/login-failures.ts';
import { isWaiting } from './state.tsx';
import { advice, whatToDoWords as words } from '../words/what-to-do.ts';

/**
 * Why a connection needs a person, as far as its last login tells, and what they do about it, or whom they ask
 * where their role cannot. Nothing where nobody is needed.
 */
export function WhatToDo({ connection }: { connection: ManagedAuth }): ReactNode {
  const { status, flow_status: flow, can_reauth: can, can_reauth_reason: reason } = connection;
  const canAct = useCanAct();
  const text = reason === undefined ? undefined : advice[reason];
  if (isWaiting(connection)) return <p className="note what-to-do">{canAct ? words.waiting : words.waitingToRead}</p>;
  if (status === 'AUTHENTICATED' || flow === 'IN_PROGRESS' || can === true || text === undefined) return null;
  return (
    <div className="note what-to-do">
      <Failure connection={connection} />
      <h3>{words.title}</h3>
      <p>{canAct ? text : words.ask}</p>
      {canAct ? <p>{keptText(connection)}</p> : null}
    </div>
  );
}

/** Why the last login failed, and what the site said to it. */
function Failure({ connection }: { connection: ManagedAuth }): ReactNode {
  const { flow_status: status, error_code: code, error_message: message, website_error: said } = connection;
  const failure = loginFailureText(code ?? undefined, message ?? undefined);
  if (status !== 'FAILED' && status !== 'EXPIRED') return null;
  if (failure === null) return null;
  return (
    <>
      <h3>{words.happened}</h3>
      <p>
        {failure}
        {said === undefined || said === null ? null : (
          <>
            {' '}
            {connectionWords.siteSays}: <q>{said}</q>
          </>
        )}
      </p>
    </>
  );
}

function keptText({ credential, save_credentials: keeps }: ManagedAuth): string {
  if (credential?.provider !== undefined) return words.inStore;
  return keeps ? words.kept : words.notKept;
}
