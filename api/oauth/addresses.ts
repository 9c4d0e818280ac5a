/** Where the parts of the authorization server are. */
export const OAUTH_PATHS = {
  authorization: '/oauth/authorize',
  token: '/oauth/token',
  registration: '/oauth/register',
  revocation: '/oauth/revoke',
  jwks: '/oauth/jwks',
  consent: '/oauth/consent',
} as const;

export const RESOURCE_METADATA_PATH = '/.well-known/oauth-protected-resource';

/** Who issues tokens: the service itself. */
export function issuerOf(publicUrl: string): string {
  return publicUrl.replace(/\/+$/, '');
}

/** What a token may be for: the service as a whole, by its address or by that of its MCP server. Both open the same. */
export function resourcesOf(publicUrl: string): readonly [mcp: string, ...others: string[]] {
  const base = issuerOf(publicUrl);
  return [`${base}/mcp`, base, `${base}/`];
}
