/** Longest query value that is kept: page identifiers are short, tokens are long. */
const MAX_VALUE_LENGTH = 32;
const SENSITIVE_NAME = /code|token|session|sid|auth|secret|pass|key|state|nonce|ticket|sig|jwt|otp|saml/i;

/**
 * Strips what must not be stored or shown from a page's URL: userinfo, fragment, and query values that could be session secrets
 * (logins often land on a URL with a one-time token) or contain one of `secrets`.
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

/** A URL without userinfo, query, and fragment, as shown in a timeline. */
export function stripQuery(address: string): string {
  if (!URL.canParse(address)) return 'about:blank';
  const { protocol, host, pathname } = new URL(address);
  return `${protocol}//${host}${pathname}`;
}

/** Whether a URL is an authorization request (RFC 6749, section 4.1.1; SAML), which redirects back once answered. */
export function isAuthorizationRequest(address: string): boolean {
  if (!URL.canParse(address)) return false;
  const { searchParams: query } = new URL(address);
  return (
    query.has('SAMLRequest') || (query.has('redirect_uri') && (query.has('response_type') || query.has('client_id')))
  );
}

/** Whether a URL carries an authorization response (RFC 6749, section 4.1.2) that the application has yet to redeem. */
export function isAuthorizationResponse(address: string): boolean {
  return URL.canParse(address) && ['code', 'state'].every((name) => new URL(address).searchParams.has(name));
}

/** Whether two URLs have the same host and path. */
export function isSamePage(left: string, right: string): boolean {
  return hostAndPath(left) !== '' && hostAndPath(left) === hostAndPath(right);
}

/** Host and path of a URL; empty if it is invalid. */
export function hostAndPath(address: string): string {
  if (!URL.canParse(address)) return '';
  const { host, pathname } = new URL(address);
  return `${host}${pathname}`;
}
