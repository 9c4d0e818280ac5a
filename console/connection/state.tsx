import type { ReactNode } from 'react';
import type { ManagedAuth } from '../../contract/connections.ts';
import { Badge } from '../parts/when.tsx';
import { connectionTables, connectionWords as words } from '../words/connections.ts';

/** How a connection is, in two words. */
export function ConnectionBadge({ connection }: { connection: ManagedAuth }): ReactNode {
  if (isWaiting(connection)) return <Badge tone="wait">{words.waiting}</Badge>;
  if (connection.flow_status === 'IN_PROGRESS') return <Badge tone="wait">{words.loggingIn}</Badge>;
  if (connection.status === 'AUTHENTICATED') return <Badge tone="good">{words.loggedIn}</Badge>;
  return <Badge tone={connection.can_reauth === true ? 'wait' : 'bad'}>{words.loggedOut}</Badge>;
}

/** True while its login waits for somebody. */
export function isWaiting({ flow_status: status, flow_step: step }: ManagedAuth): boolean {
  return status === 'IN_PROGRESS' && (step === 'AWAITING_INPUT' || step === 'AWAITING_EXTERNAL_ACTION');
}

/** What the gate says of it: whether it logs in again by itself, and why not. */
export function reauthText({ can_reauth_reason: reason, auto_reauth: auto, can_reauth: can }: ManagedAuth): string {
  if (auto === false && can === true) return words.paused;
  return reason === undefined ? '' : connectionTables.reasons[reason];
}
