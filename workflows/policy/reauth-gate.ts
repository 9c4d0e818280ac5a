import type { CredentialFacts } from '../../contract/activities.ts';
import { asksForCode, isOneTime } from '../../contract/code-fields.ts';
import type { CanReauthReason, CredentialReference, FlowErrorCode } from '../../contract/connections.ts';
import type { ConnectionSettings, ReauthObstacle } from '../../contract/document.ts';
import type { CredentialVersion, LoginPlan, PlanStep } from '../../contract/login-plan.ts';
import type { CodeChannel } from '../../contract/reading.ts';
import { isAtVersion } from './credential-version.ts';
import { commonRef, matchKeys } from './field-refs.ts';
import { isViable } from './login-plan.ts';

/** The input of the gate. */
export interface GateInput {
  hadLogin: boolean;
  reference: CredentialReference | undefined;
  /** What the attached credential can answer; null if it is gone or was not read. */
  credential: CredentialFacts | null;
  /** True while the attached credential is still to be read. */
  isUnread: boolean;
  refused: CredentialVersion | null;
  refusedCodes: CredentialVersion | null;
  obstacle: ReauthObstacle | null;
  plans: readonly LoginPlan[];
  /** Channels whose codes arrive automatically. */
  codeChannels: readonly CodeChannel[];
}

/** Whether Holdfast may log in again unattended, and why. */
interface GateVerdict {
  canReauth: boolean;
  reason: CanReauthReason;
}

/**
 * The reauth gate (`can_reauth_reason`). Pure. The first matching row applies:
 *
 * | fact                                                                          | `can_reauth_reason`                    | may |
 * | ----------------------------------------------------------------------------- | -------------------------------------- | --- |
 * | no login has succeeded yet                                                    | `no_prior_successful_login`            | no  |
 * | no credential is attached                                                     | `no_credential`                        | no  |
 * | it is in an external store and was not read yet                               | `external_credential`                  | yes |
 * | it is stored here and was not read yet                                        | `has_credential`                       | yes |
 * | it is gone, or empty                                                          | `no_credential`                        | no  |
 * | the site refused its password                                                 | `requires_customer_input`              | no  |
 * | the last REAUTH met an authenticator code, without a secret                   | `requires_totp_without_secret`         | no  |
 * | … a code by text message                                                      | `requires_sms_code`                    | no  |
 * | … a code by email                                                             | `requires_email_code`                  | no  |
 * | … a push, a mailed link, a passkey                                            | `requires_external_action`             | no  |
 * | … a picker, unknown fields, a rejection, a locked account                     | `requires_customer_input`              | no  |
 * | it holds a passkey, which replaces password and code                          | `requirements_satisfiable`             | yes |
 * | no login recorded a plan, and it is in an external store                      | `external_credential`                  | yes |
 * | no login recorded a plan: the site asked for nothing                          | `no_requirements_recorded`             | yes |
 * | it answers a whole plan, and is in an external store                          | `external_credential`                  | yes |
 * | it answers a whole plan, in which a model chooses a form                      | `cua_has_credential`                   | yes |
 * | it answers a whole plan, recorded with it or saved to it                      | `viable_plans_found`                   | yes |
 * | it answers a whole plan, recorded without it or with a typed code             | `requirements_satisfiable`             | yes |
 * | every plan has failed twice, and it has changed since                         | `has_credential`                       | yes |
 * | every plan has failed twice                                                   | `no_viable_plans`                      | no  |
 * | the newest plan needs an action elsewhere                                     | `viable_plans_require_external_action` | no  |
 * | … an authenticator code, and there is no secret                               | `requires_totp_without_secret`         | no  |
 * | … an authenticator code, and the site refused those of the secret             | `requires_customer_input`              | no  |
 * | … a code by text message                                                      | `requires_sms_code`                    | no  |
 * | … a code by email                                                             | `requires_email_code`                  | no  |
 * | … a code by phone call                                                        | `requires_customer_input`              | no  |
 * | … a code of unknown origin, and there is no secret                            | `requires_customer_input`              | no  |
 * | … a value that the credential lacks, or another provider                      | `requires_customer_input`              | no  |
 *
 * What a REAUTH met and what was refused count for the version of the credential at that time. A code that arrives
 * automatically (`codes` of the connection) counts as answered by the credential, as does a mailed link if emails arrive.
 */
export function evaluateReauthGate(input: GateInput): GateVerdict {
  const { credential, obstacle, plans } = input;
  if (!input.hadLogin) return no('no_prior_successful_login');
  if (input.reference === undefined) return no('no_credential');
  const isExternal = input.reference.provider !== undefined;
  // The contents of an external secret store are known once a flow or a check has read them.
  if (isExternal && credential === null) return yes('external_credential');
  if (credential === null && input.isUnread) return yes('has_credential');
  const hasPasskey = credential?.hasPasskey === true;
  if (credential === null || (credential.valueKeys.length === 0 && credential.ssoProvider === null && !hasPasskey))
    return no('no_credential');
  if (isAtVersion(credential, input.refused)) return no('requires_customer_input');
  if (obstacle !== null && (obstacle.credential === null || isAtVersion(credential, obstacle.credential)))
    return no(obstacle.reason);
  if (hasPasskey) return yes('requirements_satisfiable');
  const [newest] = plans;
  if (newest === undefined) return yes(isExternal ? 'external_credential' : 'no_requirements_recorded');
  const [plan] = followablePlans(input);
  if (plan !== undefined) {
    if (isExternal) return yes('external_credential');
    if (plan.steps.some((step) => step.by_model === true)) return yes('cua_has_credential');
    return yes(isReplay(plan, credential) ? 'viable_plans_found' : 'requirements_satisfiable');
  }
  const viable = plans.find(isViable);
  if (viable !== undefined) return no(blockerOf(viable, input, credential) ?? 'requires_customer_input');
  const failedWith = newest.failures.credential;
  return failedWith === null || isAtVersion(credential, failedWith) ? no('no_viable_plans') : yes('has_credential');
}

/** The plans that a REAUTH may follow, newest first: those that have not failed and that the credential can answer. Pure. */
export function followablePlans(
  input: Pick<GateInput, 'reference' | 'credential' | 'refusedCodes' | 'plans' | 'codeChannels'>,
): LoginPlan[] {
  const { credential } = input;
  return input.plans.filter(
    (plan) => isViable(plan) && (credential === null || blockerOf(plan, input, credential) === null),
  );
}

/** Why the credential cannot answer a plan; null if it can. */
function blockerOf(
  { steps }: LoginPlan,
  { reference, refusedCodes, codeChannels }: Pick<GateInput, 'reference' | 'refusedCodes' | 'codeChannels'>,
  credential: CredentialFacts,
): CanReauthReason | null {
  const hasLinks = codeChannels.includes('email');
  if (steps.some(({ external, mailed_link: isLink }) => external && !(isLink === true && hasLinks)))
    return 'viable_plans_require_external_action';
  for (const { type, channel = 'unknown' } of steps.flatMap(({ fields }) => fields)) {
    // Such a code may be the authenticator's: the flow tries the saved secret, once.
    if (type === 'code' && channel === 'unknown' && credential.hasTotpSecret) continue;
    if (type === 'totp_code') {
      if (!credential.hasTotpSecret) return 'requires_totp_without_secret';
      if (isAtVersion(credential, refusedCodes)) return 'requires_customer_input';
    } else if (type === 'code' && !codeChannels.includes(channel)) {
      return CODE_REASONS[channel];
    }
  }
  const isAnswered = steps.every((step) => answersStep(step, credential));
  const hasProviders = reference?.provider !== undefined || providersOf(steps).every(isCredentials);
  return isAnswered && hasProviders ? null : 'requires_customer_input';

  function isCredentials(provider: string): boolean {
    return provider.toLowerCase() === credential.ssoProvider?.toLowerCase();
  }
}

/** Providers whose own pages asked for something. */
function providersOf(steps: readonly PlanStep[]): string[] {
  return steps.flatMap(({ page, choice }, index) => {
    const asked = steps.slice(index + 1).filter(({ fields }) => fields.length > 0);
    const isElsewhere = asked.some((step) => originOf(step.page) !== originOf(page));
    return choice?.provider !== undefined && isElsewhere ? [choice.provider] : [];
  });
}

function originOf(page: string | null): string {
  return page?.split('/', 3).join('/') ?? '';
}

/** True for a plan whose every answer came from, or was saved to, the credential: following it repeats them. */
function isReplay({ credential_id: id, steps }: LoginPlan, credential: CredentialFacts): boolean {
  const isTypedOnce = (field: PlanStep['fields'][number]): boolean =>
    field.answered_by === 'person' && isOneTime(field);
  return id === credential.id && !steps.some(({ fields, external }) => external || fields.some(isTypedOnce));
}

/** The reason for each kind of delivered code. The interface has none for phone calls. */
const CODE_REASONS: Record<CodeChannel, CanReauthReason> = {
  sms: 'requires_sms_code',
  email: 'requires_email_code',
  call: 'requires_customer_input',
  totp: 'requires_totp_without_secret',
  unknown: 'requires_customer_input',
};

/** The lasting reason behind a failed REAUTH that needs a person or another credential; null if a retry may succeed. Pure. */
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
    case 'account_mismatch':
    case 'max_attempts_reached':
      return 'requires_customer_input';
    default:
      return null;
  }
}

/** True if the credential answers every field of a page that is not a code. */
function answersStep({ fields }: PlanStep, credential: CredentialFacts): boolean {
  const stored = fields.filter(({ type }) => !asksForCode(type));
  return matchKeys(
    stored.map((field) => ({ field, ref: field.ref ?? commonRef(field) })),
    credential,
  ).every((key) => key !== null);
}

/** The channels whose codes arrive automatically; if there are any, codes of unknown origin count too. Pure. */
export function codeChannelsOf({ codes }: Pick<ConnectionSettings, 'codes'>): CodeChannel[] {
  const channels: CodeChannel[] = [
    ...(codes?.phone_number === undefined ? [] : ['sms' as const]),
    ...(codes?.email_address === undefined ? [] : ['email' as const]),
    ...(codes?.api ?? []),
  ];
  return channels.length === 0 ? [] : [...new Set(channels), 'unknown'];
}

function yes(reason: CanReauthReason): GateVerdict {
  return { canReauth: true, reason };
}

function no(reason: CanReauthReason): GateVerdict {
  return { canReauth: false, reason };
}
