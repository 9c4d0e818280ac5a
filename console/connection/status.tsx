import type { ReactNode } from 'react';
import type { ManagedAuth } from '../../contract/connections.ts';
import { Badge } from '../parts/when.tsx';
import { useCanAct } from '../parts/roles.tsx';
import { connectionTables, connectionWords } from '../words/connections.ts';
import { loginFailureText } from '../words/login-failures.ts';
import { advice, whatToDoWords as words } from '../words/what-to-do.ts';

/** Login status of a connection. */
export function ConnectionBadge({ connection }: { connection: ManagedAuth }): ReactNode {
  if (isWaiting(connection)) return <Badge tone="wait">{connectionWords.waiting}</Badge>;
  if (connection.flow_status === 'IN_PROGRESS') return <Badge tone="wait">{connectionWords.loggingIn}</Badge>;
  if (connection.status === 'AUTHENTICATED') return <Badge tone="good">{connectionWords.loggedIn}</Badge>;
  return <Badge tone={connection.can_reauth === true ? 'wait' : 'bad'}>{connectionWords.loggedOut}</Badge>;
}

/** True while its login waits for a person. */
export function isWaiting({ flow_status: status, flow_step: step }: ManagedAuth): boolean {
  return status === 'IN_PROGRESS' && (step === 'AWAITING_INPUT' || step === 'AWAITING_EXTERNAL_ACTION');
}

/** Whether it logs in again automatically, and why not. */
export function reauthText({ can_reauth_reason: reason, auto_reauth: auto, can_reauth: can }: ManagedAuth): string {
  if (auto === false && can === true) return connectionWords.paused;
  return reason === undefined ? '' : connectionTables.reasons[reason];
}

/**
 * Why a connection needs a person and what to do about it, or whom to ask if the role does not allow it. Empty if nobody is
 * needed.
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

/** Why the last login failed, and the site's error message. */
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
