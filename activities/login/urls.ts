/** Longest query value that is kept: identifiers of pages are short, tokens are long. */
const MAX_VALUE_LENGTH = 32;
const SENSITIVE_NAME = /code|token|session|sid|auth|secret|pass|key|state|nonce|ticket|sig|jwt|otp|saml/i;

/**
 * A page's address as it may be kept and shown: no user, no fragment, and no query value that could be a secret of the
 * session (a login often lands on an address that carries a one-time token), or that holds one of `secrets`.
 */
export function sanitizeUrl(address: string, secrets: ReadonlySet<string> = new Set()): string {
  if (!URL.canParse(address)) return 'about:blank';
  const url = new URL(address);
  url.username = '';
  url.password = '';
  url.hash = '';
  for (const [name, value] of [...url.searchParams]) {
    const isTyped = [...secrets].some((secret) => value.includes(secret));
    if (isTyped || SENSITIVE_NAME.test(name) || value.length > MAX_VALUE_LENGTH) url.searchParams.delete(name);
  }
  return url.href;
}

/** An address without user, query and fragment, as a timeline tells it. */
export function stripQuery(address: string): string {
  if (!URL.canParse(address)) return 'about:blank';
  const { protocol, host, pathname } = new URL(address);
  return `${protocol}//${host}${pathname}`;
}

/**
 * True for an address that asks a provider for a visitor's authorization (RFC 6749, section 4.1.1; SAML's redirect binding).
 * Nobody's inside is there: once it is answered it leads back to who asked.
 */
export function isAuthorizationRequest(address: string): boolean {
  if (!URL.canParse(address)) return false;
  const { searchParams: query } = new URL(address);
  return (
    query.has('SAMLRequest') || (query.has('redirect_uri') && (query.has('response_type') || query.has('client_id')))
  );
}

/** True for an address that brings a provider's answer (RFC 6749, section 4.1.2), which the application has still to redeem. */
export function isAuthorizationResponse(address: string): boolean {
  return URL.canParse(address) && ['code', 'state'].every((name) => new URL(address).searchParams.has(name));
}

/** True for two addresses of one page: host and path are the same, whatever the query. */
export function isSamePage(left: string, right: string): boolean {
  return hostAndPath(left) !== '' && hostAndPath(left) === hostAndPath(right);
}

/** Host and path of an address; empty when it is none. */
export function hostAndPath(address: string): string {
  if (!URL.canParse(address)) return '';
  const { host, pathname } = new URL(address);
  return `${host}${pathname}`;
}
