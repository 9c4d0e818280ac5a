import type { ManagedAuth } from '../../contract/connections.ts';

/** Flow fields that a state event carries beside `flow_status` and `flow_step` (wire.md, "Streams"). */
const FIELDS = [
  'flow_type',
  'interaction_id',
  'fields',
  'choices',
  'discovered_fields',
  'mfa_options',
  'sign_in_options',
  'pending_sso_buttons',
  'external_action_message',
  'website_error',
  'error_code',
  'error_message',
  'post_login_url',
  'live_view_url',
  'hosted_url',
] as const satisfies readonly (keyof ManagedAuth)[];

/**
 * The data of a `managed_auth_state` event: the whole state, without what is null (readers drop what is missing).
 * Null when the connection has had no flow yet: there is no state to tell.
 */
export function stateEvent(connection: ManagedAuth, at: Date): { event: string; [name: string]: unknown } | null {
  const { flow_status: status, flow_step: step } = connection;
  if (!status || !step) return null;
  const known = FIELDS.flatMap((name) => {
    const value = connection[name];
    return value === null || value === undefined ? [] : [[name, value] as const];
  });
  return {
    event: 'managed_auth_state',
    timestamp: at.toISOString(),
    flow_status: status,
    flow_step: step,
    ...Object.fromEntries(known),
  };
}
