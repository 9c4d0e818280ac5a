import { HoldfastError, type ErrorCode } from '../../contract/errors.ts';

/** Why a round trip through the OpenID provider failed; the key is sent as `inner_error.code`. */
const OIDC_ERRORS = {
  oidc_not_configured: [
    'not_found',
    'This installation has no OpenID provider; its operator sets HOLDFAST_OIDC_ISSUER',
  ],
  oidc_unavailable: ['unavailable', 'The OpenID provider is not responding; try again, or sign in another way'],
  oidc_expired: ['gone', 'This sign-in was started elsewhere or too long ago; start again from the console'],
  oidc_refused: ['forbidden', 'The OpenID provider refused the sign-in; ask whoever runs it'],
  oidc_no_proof: ['forbidden', 'The OpenID provider sent no valid proof of identity; start again'],
  oidc_unverified_email: ['forbidden', 'The OpenID provider has no verified email address for you; verify it there'],
  oidc_no_member: ['forbidden', 'You are not a member here; ask an owner of the organization for an invitation'],
  oidc_other_account: [
    'forbidden',
    'This email address is linked to another account at the OpenID provider; sign in with that account',
  ],
  oidc_other_person: ['forbidden', 'Someone else is signed in at the OpenID provider; sign in there as yourself'],
  oidc_old_sign_in: [
    'forbidden',
    'The OpenID provider did not ask you to sign in again; sign out there, then confirm again',
  ],
  oidc_session_over: ['gone', 'The session to confirm has ended; sign in again'],
} as const satisfies Record<string, readonly [ErrorCode, string]>;

export type OidcErrorReason = keyof typeof OIDC_ERRORS;

/** The error for a reason. */
export function oidcError(reason: OidcErrorReason): HoldfastError {
  const [code, message] = OIDC_ERRORS[reason];
  return new HoldfastError(code, message, { innerError: { code: reason, message } });
}

/** The OIDC reason an error carries; null for errors that any route may throw. */
export function reasonOf({ innerError }: HoldfastError): OidcErrorReason | null {
  const code = innerError?.code ?? '';
  return isReason(code) ? code : null;
}

function isReason(code: string): code is OidcErrorReason {
  return Object.hasOwn(OIDC_ERRORS, code);
}
