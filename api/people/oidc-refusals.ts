import { HoldfastError, type ErrorCode } from '../../contract/errors.ts';

/** Why the way through an OpenID provider ended without a session; `inner_error.code` of the answer. */
const OIDC_REFUSALS = {
  oidc_not_configured: [
    'not_found',
    'This installation has no OpenID provider; its operator sets HOLDFAST_OIDC_ISSUER',
  ],
  oidc_unavailable: ['unavailable', 'The OpenID provider does not answer; try again, or sign in by other means'],
  oidc_expired: ['gone', 'This sign-in was begun elsewhere or too long ago; begin again at the console'],
  oidc_refused: ['forbidden', 'The OpenID provider refused the sign-in; ask whoever runs it'],
  oidc_no_proof: ['forbidden', 'What the OpenID provider answered proves nothing; begin again'],
  oidc_unverified_email: ['forbidden', 'The OpenID provider names no verified e-mail address of yours'],
  oidc_no_member: ['forbidden', 'You are not a member here; ask an owner of the organization for an invitation'],
  oidc_other_account: ['forbidden', 'This e-mail address belongs to another account of the OpenID provider'],
  oidc_other_person: ['forbidden', 'Somebody else has signed in at the OpenID provider; sign in there as yourself'],
  oidc_old_sign_in: [
    'forbidden',
    'The OpenID provider did not ask you again who you are; sign out there, then confirm once more',
  ],
  oidc_session_over: ['gone', 'The session that was to be confirmed has ended; sign in again'],
} as const satisfies Record<string, readonly [ErrorCode, string]>;

/** A reason of {@link OIDC_REFUSALS}. */
export type OidcRefusal = keyof typeof OIDC_REFUSALS;

/** The error of a reason. */
export function oidcRefusal(reason: OidcRefusal): HoldfastError {
  const [code, message] = OIDC_REFUSALS[reason];
  return new HoldfastError(code, message, { innerError: { code: reason, message } });
}

/** The reason that an error carries; null for what may happen on any route. */
export function reasonOf({ innerError }: HoldfastError): OidcRefusal | null {
  const code = innerError?.code ?? '';
  return isReason(code) ? code : null;
}

function isReason(code: string): code is OidcRefusal {
  return Object.hasOwn(OIDC_REFUSALS, code);
}
