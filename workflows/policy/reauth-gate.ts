import type { CredentialFacts } from '../../contract/activities.ts';
import type { CanReauthReason, CredentialReference, FlowErrorCode } from '../../contract/connections.ts';
import type { CredentialVersion, LoginRequirements, ReauthObstacle } from '../../contract/document.ts';
import type { CodeChannel } from '../../contract/reading.ts';
import { isAtVersion } from './credential-version.ts';
import { commonRef, matchKeys } from './field-refs.ts';

/** What the gate looks at. */
export interface GateInput {
  hadLogin: boolean;
  reference: CredentialReference | undefined;
  credential: CredentialFacts | null;
  refused: CredentialVersion | null;
  refusedCodes: CredentialVersion | null;
  obstacle: ReauthObstacle | null;
  requirements: LoginRequirements | null;
}

/** Whether Holdfast may log in again by itself, with the interface's word for why. */
export interface GateVerdict {
  canReauth: boolean;
  reason: CanReauthReason;
}

/**
 * The reauth gate (`can_reauth_reason`). Pure. The first row that holds says it:
 *
 * | fact                                                                          | `can_reauth_reason`             | may |
 * | ----------------------------------------------------------------------------- | ------------------------------- | --- |
 * | nobody has logged in yet                                                      | `no_prior_successful_login`     | no  |
 * | no credential is attached                                                     | `no_credential`                 | no  |
 * | it lies in an external store, which nobody has asked yet                      | `external_credential`           | yes |
 * | it is gone, or empty                                                          | `no_credential`                 | no  |
 * | the site refused its password                                                 | `requires_customer_input`       | no  |
 * | the last REAUTH stood before an authenticator code, with no secret            | `requires_totp_without_secret`  | no  |
 * | … before a code by text message                                               | `requires_sms_code`             | no  |
 * | … before a code by e-mail                                                     | `requires_email_code`           | no  |
 * | … before a push, a mailed link, a passkey                                     | `requires_external_action`      | no  |
 * | … before a picker, unknown fields, a refusal, a locked account                | `requires_customer_input`       | no  |
 * | the site asked the last login for nothing, and it lies in an external store   | `external_credential`           | yes |
 * | the site asked the last login for nothing, so that nothing is known of it     | `no_requirements_recorded`      | yes |
 * | the last login took an action elsewhere                                       | `requires_external_action`      | no  |
 * | … an authenticator code, and there is no secret                               | `requires_totp_without_secret`  | no  |
 * | … an authenticator code, and the site refused those of the secret             | `requires_customer_input`       | no  |
 * | … a code by text message                                                      | `requires_sms_code`             | no  |
 * | … a code by e-mail                                                            | `requires_email_code`           | no  |
 * | … a code by phone call                                                        | `requires_customer_input`       | no  |
 * | … a code of which the page does not say how it is sent, and there is no secret| `requires_customer_input`       | no  |
 * | … a value that the credential does not hold                                   | `requires_customer_input`       | no  |
 * | it answers everything that the last login took, and lies in an external store | `external_credential`           | yes |
 * | the credential answers everything that the last login took                    | `requirements_satisfiable`      | yes |
 *
 * What REAUTH met, and what was refused, counts for the version of the credential that it met it with. Never said are
 * `cua_has_credential` (no agent logs in), `has_credential` (a credential is always held against what is known), and those of
 * stored plans: `viable_plans_found`, `no_viable_plans`, `viable_plans_require_external_action`.
 */
export function evaluateReauthGate(input: GateInput): GateVerdict {
  const { credential, obstacle, requirements } = input;
  if (!input.hadLogin) return no('no_prior_successful_login');
  if (input.reference === undefined) return no('no_credential');
  const isExternal = input.reference.provider !== undefined;
  // What an external secret store holds is known once a flow or a check has asked it.
  if (isExternal && credential === null) return { canReauth: true, reason: 'external_credential' };
  if (credential === null || (credential.valueKeys.length === 0 && credential.ssoProvider === null))
    return no('no_credential');
  if (isAtVersion(credential, input.refused)) return no('requires_customer_input');
  if (obstacle !== null && (obstacle.credential === null || isAtVersion(credential, obstacle.credential)))
    return no(obstacle.reason);
  if (requirements === null)
    return { canReauth: true, reason: isExternal ? 'external_credential' : 'no_requirements_recorded' };
  if (requirements.externalAction) return no('requires_external_action');
  for (const field of requirements.fields) {
    const channel = field.channel ?? 'unknown';
    // Nothing says that such a code is sent: the flow tries the saved secret, once.
    if (field.type === 'code' && channel === 'unknown' && credential.hasTotpSecret) continue;
    if (field.type === 'totp_code') {
      if (!credential.hasTotpSecret) return no('requires_totp_without_secret');
      if (isAtVersion(credential, input.refusedCodes)) return no('requires_customer_input');
    } else if (field.type === 'code') {
      return no(CODE_REASONS[channel]);
    }
  }
  if (!answersAll(requirements.fields, credential)) return no('requires_customer_input');
  return { canReauth: true, reason: isExternal ? 'external_credential' : 'requirements_satisfiable' };
}

/** Why a code that is sent keeps Holdfast out. A code by phone call has no word of its own in the interface. */
const CODE_REASONS: Record<CodeChannel, CanReauthReason> = {
  sms: 'requires_sms_code',
  email: 'requires_email_code',
  call: 'requires_customer_input',
  totp: 'requires_totp_without_secret',
  unknown: 'requires_customer_input',
};

/**
 * What a REAUTH that ended with `code` met that nobody but a person (or another credential) gets past; null when another
 * try may well go through. Pure.
 */
export function obstacleOf(code: FlowErrorCode): CanReauthReason | null {
  switch (code) {
    case 'totp_required':
      return 'requires_totp_without_secret';
    case 'sms_code_required':
      return 'requires_sms_code';
    case 'email_code_required':
      return 'requires_email_code';
    case 'external_action_required':
    case 'unsupported_auth_method':
      return 'requires_external_action';
    case 'mfa_required':
    case 'account_choice_required':
    case 'customer_input_required':
    case 'credentials_invalid':
    case 'totp_code_rejected':
    case 'max_attempts_reached':
      return 'requires_customer_input';
    default:
      return null;
  }
}

/** True when the credential answers every field that is not a code, page by page as a login would. */
function answersAll(fields: LoginRequirements['fields'], credential: CredentialFacts): boolean {
  const lasting = fields.filter(({ type }) => type !== 'code' && type !== 'totp_code');
  const pages = new Map<number, LoginRequirements['fields']>();
  for (const [index, field] of lasting.entries()) {
    // Rows that are older than steps say nothing of pages: each field is looked at alone.
    const step = field.step ?? -index;
    pages.set(step, [...(pages.get(step) ?? []), field]);
  }
  return [...pages.values()].every((page) =>
    matchKeys(
      page.map((field) => ({ field, ref: field.ref ?? commonRef(field) })),
      credential,
    ).every((key) => key !== null),
  );
}

function no(reason: CanReauthReason): GateVerdict {
  return { canReauth: false, reason };
}
