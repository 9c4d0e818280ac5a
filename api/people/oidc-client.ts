import { hkdfSync } from 'node:crypto';
import * as openid from 'openid-client';
import { z } from 'zod';
import { Email } from '../../contract/people.ts';
import type { OidcSettings } from '../context.ts';
import { oidcError, type OidcErrorReason } from './oidc-errors.ts';
import type { OidcPerson } from './oidc-rules.ts';

/** How long the provider's discovery document is cached, in milliseconds. */
const DISCOVERY_KEPT_MS = 60 * 60_000;
const SCOPE = 'openid email profile';

/** A person as the provider knows them; `subject` is their permanent id there. */
export interface OidcIdentity extends OidcPerson {
  subject: string;
  name: string | null;
  /** When they last authenticated with the provider; null if it does not say. */
  authenticatedAt: Date | null;
}

/** Client of an OpenID provider: authorization code flow with PKCE, state and nonce, all derived from one random token. */
export interface OidcClient {
  /** Where to sign in; `reauthenticate` requires that even if the person is signed in there. */
  authorizationUrl(token: string, reauthenticate?: boolean): Promise<string>;
  /** The identity in a callback URL. Throws an {@link oidcError} if it proves none. */
  identity(token: string, currentUrl: URL): Promise<OidcIdentity>;
}

const Claims = z.object({
  iss: z.string(),
  sub: z.string().min(1),
  email: Email,
  email_verified: z.literal(true),
  name: z.string().max(100).optional(),
  groups: z.array(z.string()).default([]),
  auth_time: z.number().optional(),
});

/** Creates a client for the installation's provider. Discovery happens on first use. */
export function createOidcClient(settings: OidcSettings, redirectUri: string, clock: () => Date): OidcClient {
  let known: { configuration: Promise<openid.Configuration>; until: number } | null = null;

  const configured = async (): Promise<openid.Configuration> => {
    if (known === null || known.until < clock().getTime()) {
      const insecure = new URL(settings.issuer).protocol === 'http:';
      const configuration = openid.discovery(
        new URL(settings.issuer),
        settings.clientId,
        settings.clientSecret,
        undefined,
        // oxlint-disable-next-line typescript/no-deprecated
        insecure ? { execute: [openid.allowInsecureRequests] } : {},
      );
      known = { configuration, until: clock().getTime() + DISCOVERY_KEPT_MS };
    }
    try {
      return await known.configuration;
    } catch {
      known = null;
      throw oidcError('oidc_unavailable');
    }
  };

  return {
    authorizationUrl: async (token, reauthenticate = false) => {
      const { state, nonce, verifier } = deriveSecrets(token);
      const url = openid.buildAuthorizationUrl(await configured(), {
        redirect_uri: redirectUri,
        scope: SCOPE,
        state,
        nonce,
        code_challenge: await openid.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
        ...(reauthenticate ? { prompt: 'login', max_age: '0' } : {}),
      });
      return url.href;
    },
    identity: async (token, currentUrl) => {
      const configuration = await configured();
      const { state, nonce, verifier } = deriveSecrets(token);
      const tokens = await openid
        .authorizationCodeGrant(configuration, currentUrl, {
          pkceCodeVerifier: verifier,
          expectedState: state,
          expectedNonce: nonce,
          idTokenExpected: true,
        })
        .catch((error: unknown) => {
          throw oidcError(refusalOf(error));
        });
      const claims = tokens.claims();
      if (claims === undefined) throw oidcError('oidc_no_proof');
      // Many providers return more claims from the userinfo endpoint than in the token.
      const more =
        configuration.serverMetadata().userinfo_endpoint === undefined
          ? {}
          : await openid.fetchUserInfo(configuration, tokens.access_token, claims.sub).catch(() => null);
      const parsed = Claims.safeParse({ ...more, ...claims });
      if (!parsed.success) throw oidcError(more === null ? 'oidc_unavailable' : 'oidc_unverified_email');
      const { iss, sub, email, name = null, groups, auth_time: time } = parsed.data;
      const authenticatedAt = time === undefined ? null : new Date(time * 1000);
      return { subject: `${iss} ${sub}`, email, name, groups, authenticatedAt };
    },
  };
}

/** Why the code exchange failed: denied by the provider, provider unavailable, or an invalid response. */
function refusalOf(error: unknown): OidcErrorReason {
  if (error instanceof openid.AuthorizationResponseError) return 'oidc_refused';
  const cause = error instanceof openid.ClientError ? error.cause : undefined;
  const status =
    error instanceof openid.ResponseBodyError ? error.status : cause instanceof Response ? cause.status : null;
  // `fetch` rejects with a TypeError if there is no response.
  const isAway = error instanceof TypeError || (error instanceof openid.ClientError && error.code === 'OAUTH_TIMEOUT');
  return isAway || (status !== null && status >= 500) ? 'oidc_unavailable' : 'oidc_no_proof';
}

function deriveSecrets(token: string): { state: string; nonce: string; verifier: string } {
  const derive = (purpose: string) => Buffer.from(hkdfSync('sha256', token, '', purpose, 32)).toString('base64url');
  return { state: derive('state'), nonce: derive('nonce'), verifier: derive('verifier') };
}
