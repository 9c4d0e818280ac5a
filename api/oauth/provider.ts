import { createHmac } from 'node:crypto';
import type { Configuration, Provider } from 'oidc-provider';
import {
  ACCESS_TOKEN_SECONDS,
  CODE_SECONDS,
  CONSENT_SECONDS,
  GRANT_SECONDS,
  OAUTH_SCOPES,
  REFRESH_TOKEN_SECONDS,
} from '../../contract/oauth.ts';
import type { ApiDeps } from '../context.ts';
import { chooseLanguage } from '../hosted/shell.ts';
import { staticPageHeaders } from '../html/static-page.ts';
import { createAdapters } from './adapter.ts';
import { issuerOf, OAUTH_PATHS, resourcesOf } from './addresses.ts';
import { errorPage } from './pages.ts';
import { SIGNING_ALG, type SigningKey, type SigningKeys } from './signing-keys.ts';

/** Claim of access tokens with the id of their grant. */
export const GRANT_CLAIM = 'grant_id';

/** Creates the authorization server, and recreates it when the signing keys change. */
export function createProviders(
  deps: Pick<ApiDeps, 'store' | 'clock' | 'settings'>,
  keys: SigningKeys,
): () => Promise<Provider> {
  let made: { keys: readonly SigningKey[]; provider: Provider } | null = null;
  return async () => {
    const current = await keys.current();
    if (made?.keys[0]?.kid !== current[0]?.kid) made = { keys: current, provider: await createProvider(deps, current) };
    if (made === null) throw new Error('No key to sign tokens with');
    return made.provider;
  };
}

async function createProvider(
  deps: Pick<ApiDeps, 'store' | 'clock' | 'settings'>,
  keys: readonly SigningKey[],
): Promise<Provider> {
  // Loaded on first use: it is slow to import, and warns about Node versions.
  const oidc = await import('oidc-provider');
  const { errors } = oidc;
  const issuer = issuerOf(deps.settings.publicUrl);
  const resources = resourcesOf(issuer);
  const [signing] = keys;
  const configuration: Configuration = {
    adapter: createAdapters(deps, errors),
    jwks: { keys: [...keys] },
    scopes: [...OAUTH_SCOPES, 'offline_access'],
    claims: {},
    responseTypes: ['code'],
    subjectTypes: ['public'],
    clientAuthMethods: ['none'],
    enabledJWA: { idTokenSigningAlgValues: [SIGNING_ALG] },
    clientDefaults: {
      // Native clients may redirect to custom schemes and to loopback addresses.
      application_type: 'native',
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
      id_token_signed_response_alg: SIGNING_ALG,
    },
    pkce: { required: () => true },
    rotateRefreshToken: true,
    issueRefreshToken: (_ctx, client) => client.grantTypeAllowed('refresh_token'),
    expiresWithSession: () => false,
    extraTokenClaims: (_ctx, token) => ('grantId' in token ? { [GRANT_CLAIM]: token.grantId } : {}),
    findAccount: (_ctx, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
    features: {
      devInteractions: { enabled: false },
      userinfo: { enabled: false },
      rpInitiatedLogout: { enabled: false },
      pushedAuthorizationRequests: { enabled: false },
      dPoP: { enabled: false },
      revocation: { enabled: true, allowedPolicy: (_ctx, client, token) => token.clientId === client.clientId },
      registration: { enabled: true, initialAccessToken: false, issueRegistrationAccessToken: false },
      resourceIndicators: {
        enabled: true,
        defaultResource: (_ctx, _client, oneOf) => oneOf?.[0] ?? resources[0],
        useGrantedResource: () => true,
        getResourceServerInfo: (_ctx, resource) => {
          if (!resources.includes(resource)) throw new errors.InvalidTarget();
          return {
            scope: OAUTH_SCOPES.join(' '),
            audience: resource,
            accessTokenTTL: ACCESS_TOKEN_SECONDS,
            accessTokenFormat: 'jwt',
            jwt: { sign: { alg: SIGNING_ALG, kid: signing?.kid } },
          };
        },
      },
    },
    routes: {
      authorization: OAUTH_PATHS.authorization,
      token: OAUTH_PATHS.token,
      registration: OAUTH_PATHS.registration,
      revocation: OAUTH_PATHS.revocation,
      jwks: OAUTH_PATHS.jwks,
    },
    interactions: { url: (_ctx, interaction) => `${OAUTH_PATHS.consent}/${interaction.uid}` },
    cookies: {
      keys: keys.map(({ d = '' }) => createHmac('sha256', d).update('cookies').digest('base64url')),
      names: { interaction: 'holdfast_oauth', resume: 'holdfast_oauth_resume', session: 'holdfast_oauth_session' },
    },
    ttl: {
      AccessToken: ACCESS_TOKEN_SECONDS,
      AuthorizationCode: CODE_SECONDS,
      Interaction: CONSENT_SECONDS,
      Session: CONSENT_SECONDS,
      RefreshToken: REFRESH_TOKEN_SECONDS,
      Grant: GRANT_SECONDS,
    },
    renderError: (ctx, { error, error_description: description }) => {
      const page = errorPage(description ?? error, chooseLanguage(ctx.get('accept-language')));
      ctx.set(staticPageHeaders(page));
      ctx.body = page.html;
    },
  };
  const provider = new oidc.Provider(issuer, configuration);
  provider.proxy = true;
  return provider;
}
