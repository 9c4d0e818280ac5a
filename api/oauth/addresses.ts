/** Paths of the authorization server. */
export const OAUTH_PATHS = {
  authorization: '/oauth/authorize',
  token: '/oauth/token',
  registration: '/oauth/register',
  revocation: '/oauth/revoke',
  jwks: '/oauth/jwks',
  consent: '/oauth/consent',
} as const;

export const RESOURCE_METADATA_PATH = '/.well-known/oauth-protected-resource';

/** The issuer: the service itself. */
export function issuerOf(publicUrl: string): string {
  return publicUrl.replace(/\/+$/, '');
}

/** Valid audiences: the MCP server and the service as a whole. Both grant the same access. */
export function resourcesOf(publicUrl: string): readonly [mcp: string, ...others: string[]] {
  const base = issuerOf(publicUrl);
  return [`${base}/mcp`, base, `${base}/`];
}
