import { hkdfSync } from 'node:crypto';
import * as openid from 'openid-client';
import { z } from 'zod';
import { Email } from '../../contract/people.ts';
import type { OidcSettings } from '../context.ts';
import { oidcRefusal, type OidcRefusal } from './oidc-refusals.ts';
import type { OidcPerson } from './oidc-rules.ts';

/** How long what a provider says of itself is trusted, in milliseconds. */
const DISCOVERY_KEPT_MS = 60 * 60_000;
const SCOPE = 'openid email profile';

/** A person as the provider knows them; `subject` names them for good, with the provider. */
export interface OidcIdentity extends OidcPerson {
  subject: string;
  name: string | null;
  /** When they last proved to the provider who they are; null where it does not say. */
  authenticatedAt: Date | null;
}

/** The client of an OpenID provider: authorization code with PKCE, state and nonce, all derived from one random token. */
export interface OidcClient {
  /** Where a person signs in; with `anew` even who is signed in there is asked. */
  authorizationUrl(token: string, anew?: boolean): Promise<string>;
  /** Who has come back, by the address they came back to. Throws an {@link oidcRefusal} for what is no proof. */
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

/** A client for the provider of an installation; it asks the provider what it offers when it is first needed. */
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
      throw oidcRefusal('oidc_unavailable');
    }
  };

  return {
    authorizationUrl: async (token, anew = false) => {
      const { state, nonce, verifier } = derivedFrom(token);
      const url = openid.buildAuthorizationUrl(await configured(), {
        redirect_uri: redirectUri,
        scope: SCOPE,
        state,
        nonce,
        code_challenge: await openid.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
        ...(anew ? { prompt: 'login', max_age: '0' } : {}),
      });
      return url.href;
    },
    identity: async (token, currentUrl) => {
      const configuration = await configured();
      const { state, nonce, verifier } = derivedFrom(token);
      const tokens = await openid
        .authorizationCodeGrant(configuration, currentUrl, {
          pkceCodeVerifier: verifier,
          expectedState: state,
          expectedNonce: nonce,
          idTokenExpected: true,
        })
        .catch((error: unknown) => {
          throw oidcRefusal(refusalOf(error));
        });
      const claims = tokens.claims();
      if (claims === undefined) throw oidcRefusal('oidc_no_proof');
      // Many providers say more at their own address than in the token.
      const more =
        configuration.serverMetadata().userinfo_endpoint === undefined
          ? {}
          : await openid.fetchUserInfo(configuration, tokens.access_token, claims.sub).catch(() => null);
      const parsed = Claims.safeParse({ ...more, ...claims });
      if (!parsed.success) throw oidcRefusal(more === null ? 'oidc_unavailable' : 'oidc_unverified_email');
      const { iss, sub, email, name = null, groups, auth_time: time } = parsed.data;
      const authenticatedAt = time === undefined ? null : new Date(time * 1000);
      return { subject: `${iss} ${sub}`, email, name, groups, authenticatedAt };
    },
  };
}

/** Why a way back led to no token: the provider said no, it failed, or what came back is not what was asked for. */
function refusalOf(error: unknown): OidcRefusal {
  if (error instanceof openid.AuthorizationResponseError) return 'oidc_refused';
  const cause = error instanceof openid.ClientError ? error.cause : undefined;
  const status =
    error instanceof openid.ResponseBodyError ? error.status : cause instanceof Response ? cause.status : null;
  // `fetch` rejects with a TypeError where there is no answer.
  const isAway = error instanceof TypeError || (error instanceof openid.ClientError && error.code === 'OAUTH_TIMEOUT');
  return isAway || (status !== null && status >= 500) ? 'oidc_unavailable' : 'oidc_no_proof';
}

function derivedFrom(token: string): { state: string; nonce: string; verifier: string } {
  const derive = (purpose: string) => Buffer.from(hkdfSync('sha256', token, '', purpose, 32)).toString('base64url');
  return { state: derive('state'), nonce: derive('nonce'), verifier: derive('verifier') };
}
