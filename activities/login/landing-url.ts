/** Longest query value that is kept: identifiers of pages are short, tokens are long. */
const MAX_VALUE_LENGTH = 32;
const SENSITIVE_NAME = /code|token|session|sid|auth|secret|pass|key|state|nonce|ticket|sig|jwt|otp|saml/i;

/**
 * A page's address as it may be kept and shown: no user, no fragment, and no query value that could be a secret of the
 * session (a login often lands on an address that carries a one-time token).
 */
export function shownUrl(address: string): string {
  if (!URL.canParse(address)) return 'about:blank';
  const url = new URL(address);
  url.username = '';
  url.password = '';
  url.hash = '';
  for (const [name, value] of [...url.searchParams]) {
    if (SENSITIVE_NAME.test(name) || value.length > MAX_VALUE_LENGTH) url.searchParams.delete(name);
  }
  return url.href;
}
