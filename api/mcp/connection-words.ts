import type { z } from 'zod';
import type { CanReauthReason, ManagedAuth } from '../../contract/connections.ts';

type Reason = z.infer<typeof CanReauthReason>;

/** Why Holdfast can, or cannot, log in again without a person. */
const GATE: Record<Reason, string> = {
  external_credential: 'logs in again by itself, with a credential of an external provider',
  cua_has_credential: 'logs in again by itself, with the stored credential',
  has_credential: 'logs in again by itself, with the stored credential',
  viable_plans_found: 'logs in again by itself, as it did before',
  no_requirements_recorded: 'logs in again by itself; nothing was asked for the last time',
  requirements_satisfiable: 'logs in again by itself; it has all that was asked for the last time',
  no_prior_successful_login: 'cannot log in by itself before a person has logged in once',
  no_credential: 'cannot log in again by itself: no credential is stored',
  no_viable_plans: 'cannot log in again by itself: no recorded way in is left',
  viable_plans_require_external_action: 'cannot log in again by itself: a person must act outside the page',
  requires_external_action: 'cannot log in again by itself: a person must act outside the page',
  requires_totp_without_secret:
    'cannot log in again by itself: it needs codes of an authenticator app whose secret is not stored',
  requires_sms_code: 'cannot log in again by itself: it needs a code by SMS',
  requires_email_code: 'cannot log in again by itself: it needs a code by e-mail',
  requires_customer_input: 'cannot log in again by itself: it needs something that only a person can answer',
};

/** How a connection does, in a sentence for an agent to act on. */
export function describeConnection(connection: ManagedAuth): string {
  const state = connection.status === 'AUTHENTICATED' ? 'Logged in' : 'Not logged in';
  const flow = flowInWords(connection);
  if (flow !== null) return `${state}; ${flow}`;
  const reason = connection.can_reauth_reason;
  return reason === undefined ? state : `${state}; ${GATE[reason]}`;
}

function flowInWords({ flow_status: status, flow_step: step, error_message: message }: ManagedAuth): string | null {
  if (status === 'FAILED') return `the last login failed: ${message ?? 'no reason was given'}`;
  if (status === 'EXPIRED') return 'the last login ran out of time; start another';
  if (status !== 'IN_PROGRESS') return null;
  if (step === 'AWAITING_INPUT') return 'a login waits for a person: hand hosted_url to them';
  if (step === 'AWAITING_EXTERNAL_ACTION') return 'a login waits until a person has confirmed it elsewhere';
  return 'a login is under way';
}
