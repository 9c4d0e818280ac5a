import { decodeProtectedHeader } from 'jose';
import * as oauth from 'openid-client';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createApi, type RunningApi } from '../../../api/service.ts';
import { useService } from '../service-fixture.ts';
import { PersonsBrowser, signedIn, startAtPublicUrl } from './person.ts';

const fixture = useService();
const REDIRECT_URI = 'http://127.0.0.1:3999/callback';
let api: RunningApi;
let config: oauth.Configuration;
let ann: Awaited<ReturnType<typeof signedIn>>;

beforeAll(async () => {
  api = await startAtPublicUrl(fixture());
  ann = await signedIn(fixture(), 'ann@example.com', 'owner');
  config = await register();
});
afterAll(() => api.close());
beforeEach(() => fixture().shiftClock(0));

const register = () =>
  oauth.dynamicClientRegistration(
    new URL(api.url),
    { client_name: 'An <agent>', redirect_uris: [REDIRECT_URI], token_endpoint_auth_method: 'none' },
    oauth.None(),
    // The service of a test has no TLS.
    // oxlint-disable-next-line typescript/no-deprecated
    { algorithm: 'oauth2', execute: [oauth.allowInsecureRequests] },
  );

/** What a program begins with, and what it needs to end it. */
async function begin(parameters: Record<string, string> = {}) {
  const verifier = oauth.randomPKCECodeVerifier();
  const state = oauth.randomState();
  const url = oauth.buildAuthorizationUrl(config, {
    redirect_uri: REDIRECT_URI,
    scope: 'read write',
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    state,
    ...parameters,
  });
  return { url, verifier, state };
}

/** The whole way of a program that a person lets in. */
async function letIn(form?: Record<string, string>, cookie = ann.cookie) {
  const { url, verifier, state } = await begin();
  const told = await new PersonsBrowser(cookie).answer(url, form);
  const exchange = (pkceCodeVerifier = verifier) =>
    oauth.authorizationCodeGrant(config, told, { pkceCodeVerifier, expectedState: state });
  return { told, exchange };
}

const Context = z.object({
  authentication: z.unknown(),
  principal: z.unknown(),
  authorization: z.object({ credential_scope: z.unknown(), effective_scope: z.unknown() }),
});
type Init = Omit<RequestInit, 'headers'> & { headers?: Record<string, string> };
const call = (token: string, path: string, init: Init = {}) =>
  fetch(`${api.url}${path}`, { ...init, headers: { authorization: `Bearer ${token}`, ...init.headers } });
const statusOf = async (token: string, path = '/auth/context', init: Init = {}) =>
  (await call(token, path, init)).status;
const refusalOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'nothing was refused',
    (error: unknown) => (error instanceof oauth.ResponseBodyError ? error.error : String(error)),
  );

describe('a program that acts for a person', () => {
  it('registers, is authorized, and acts as the person within its access', async () => {
    const { url, verifier, state } = await begin();
    const browser = new PersonsBrowser(ann.cookie);
    const page = await browser.open(await browser.consentOf(url));
    expect(page.text).toContain('An &#60;agent&#62;');
    expect(page.text).toContain('ann@example.com');
    const told = await browser.answer(url);
    const tokens = await oauth.authorizationCodeGrant(config, told, {
      pkceCodeVerifier: verifier,
      expectedState: state,
    });
    expect(tokens).toMatchObject({ token_type: 'bearer', expires_in: 300, scope: 'read write' });
    expect(Context.parse(await (await call(tokens.access_token, '/auth/context')).json())).toEqual({
      authentication: { method: 'jwt', source: 'oauth', credential_id: null },
      principal: { type: 'user', id: ann.id },
      authorization: { credential_scope: { project_id: null }, effective_scope: { project_id: null } },
    });
    const made = { method: 'POST', body: '{}', headers: { 'content-type': 'application/json' } };
    expect(await statusOf(tokens.access_token, '/profiles', made)).toBe(201);
    // Keys and members are for people themselves, though this one is an owner.
    const key = { ...made, body: '{"name":"k"}' };
    expect(await statusOf(tokens.access_token, '/org/api_keys', key)).toBe(403);
  });

  it('cannot write with read access, and sees only its own project', async () => {
    const { store } = fixture();
    const project = await store.projects.create('org_default', { name: 'Shop' });
    const { exchange } = await letIn({ answer: 'allow', access: 'read', project: project.id });
    const { access_token: token, scope } = await exchange();
    expect(scope).toBe('read');
    const context = Context.parse(await (await call(token, '/auth/context')).json());
    expect(context.authorization.credential_scope).toEqual({ project_id: project.id });
    expect(await statusOf(token, '/auth/context', { headers: { 'x-kernel-project-id': 'prj_default' } })).toBe(403);
    expect(await statusOf(token, '/profiles', { method: 'POST' })).toBe(403);
    expect(await statusOf(token, '/profiles')).toBe(200);
  });

  it('is denied, and only people who are signed in are asked', async () => {
    const { url } = await begin();
    const told = await new PersonsBrowser(ann.cookie).answer(url, { answer: 'deny' });
    expect(told.searchParams.get('error')).toBe('access_denied');
    const stranger = new PersonsBrowser();
    const consent = await stranger.consentOf(url);
    expect((await stranger.open(consent)).text).toContain('Sign in first');
    const foreign = {
      method: 'POST',
      body: new URLSearchParams({ answer: 'allow' }),
      headers: { origin: 'https://evil.example' },
    };
    expect((await new PersonsBrowser(ann.cookie).open(consent, foreign)).status).toBe(403);
  });

  it("is rejected on a page in the person's language that says what to do", async () => {
    const headers = { accept: 'text/html,*/*;q=0.8', 'accept-language': 'de' };
    const { url } = await begin();
    const browser = new PersonsBrowser(ann.cookie);
    const consent = await browser.consentOf(url);
    const elsewhere = await new PersonsBrowser(ann.cookie).open(consent, { headers });
    expect([elsewhere.status, elsewhere.text]).toEqual([410, expect.stringContaining('Diese Anfrage ist abgelaufen')]);
    const asJson = await new PersonsBrowser(ann.cookie).open(consent);
    expect([asJson.status, asJson.text]).toEqual([410, expect.stringContaining('"code":"consent_expired"')]);
    const body = new URLSearchParams({ answer: 'allow', project: 'prj_gone' });
    const init = { method: 'POST', body, headers: { ...headers, origin: consent.origin } };
    const gone = await browser.open(consent, init);
    expect([gone.status, gone.text]).toEqual([400, expect.stringContaining('Das gewählte Projekt gibt es nicht mehr')]);
    // What the provider says for who makes the program is escaped, and in its own language.
    const wrong = await begin({ redirect_uri: 'https://evil.example/<b>' });
    const page = await new PersonsBrowser(ann.cookie).open(wrong.url, { headers });
    expect([page.status, page.text]).toEqual([400, expect.stringContaining('<code lang="en">')]);
    expect(page.text).toContain('<html lang="de">');
    expect(page.text).not.toContain('<b>');
  });

  it('is rejected with another redirect URI, without PKCE, or for another resource', async () => {
    const elsewhere = await begin({ redirect_uri: 'https://evil.example/callback' });
    const page = await new PersonsBrowser(ann.cookie).open(elsewhere.url);
    expect([page.status, page.location]).toEqual([400, null]);
    const { url } = await begin({ resource: 'https://other.example/' });
    expect((await new PersonsBrowser(ann.cookie).consentOf(url)).searchParams.get('error')).toBe('invalid_target');
    url.searchParams.delete('code_challenge');
    url.searchParams.delete('code_challenge_method');
    url.searchParams.delete('resource');
    expect((await new PersonsBrowser(ann.cookie).consentOf(url)).searchParams.get('error')).toBe('invalid_request');
  });

  it('is rejected with a wrong verifier, and loses its grant if a code or refresh token is reused', async () => {
    const wrong = await letIn();
    expect(await refusalOf(wrong.exchange(oauth.randomPKCECodeVerifier()))).toBe('invalid_grant');

    const twice = await letIn();
    const first = await twice.exchange();
    expect(await statusOf(first.access_token)).toBe(200);
    expect(await refusalOf(twice.exchange())).toBe('invalid_grant');
    expect(await statusOf(first.access_token)).toBe(401);

    const { exchange } = await letIn();
    const { refresh_token: old = '' } = await exchange();
    const next = await oauth.refreshTokenGrant(config, old);
    expect(next.refresh_token).not.toBe(old);
    expect(await statusOf(next.access_token)).toBe(200);
    expect(await refusalOf(oauth.refreshTokenGrant(config, old))).toBe('invalid_grant');
    expect(await statusOf(next.access_token)).toBe(401);
    expect(await refusalOf(oauth.refreshTokenGrant(config, next.refresh_token ?? ''))).toBe('invalid_grant');
  });

  it('is rejected as soon as the grant or membership ends, the person signs out everywhere, or its tokens expire', async () => {
    const { store, shiftClock } = fixture();
    const bob = await signedIn(fixture(), 'bob@example.com', 'operator');
    const { exchange } = await letIn(undefined, bob.cookie);
    const { access_token: token } = await exchange();
    const grants = z.array(z.object({ id: z.string(), user: z.object({ id: z.string() }) }));
    const listed = grants.parse(await (await call(token, '/oauth/grants')).json());
    expect(listed.map(({ user }) => user.id)).toEqual([bob.id]);
    shiftClock(301_000);
    expect(await statusOf(token)).toBe(401);
    shiftClock(0);
    expect(await statusOf(token)).toBe(200);
    expect((await fixture().call('DELETE', `/oauth/grants/${listed[0]?.id}`)).statusCode).toBe(204);
    expect(await statusOf(token)).toBe(401);

    const everywhere = await (await letIn(undefined, bob.cookie)).exchange();
    await store.userSessions.endOthers(bob.id, '');
    expect(await statusOf(everywhere.access_token)).toBe(401);

    const { token: session } = await store.userSessions.begin(bob.id, 'org_default');
    const again = await (await letIn(undefined, `holdfast_session=${session}`)).exchange();
    expect(await statusOf(again.access_token)).toBe(200);
    await store.memberships.remove('org_default', bob.id);
    expect(await statusOf(again.access_token)).toBe(401);
    expect(await refusalOf(oauth.refreshTokenGrant(config, again.refresh_token ?? ''))).toBe('invalid_grant');
  });

  it('keeps working when the signing key rotates', async () => {
    const { deps, store } = fixture();
    const { access_token: before, refresh_token = '' } = await (await letIn()).exchange();
    await store.installationKeys.rotateOlder('oauth-tokens', new Date(Date.now() + 1000));
    // Another process signs with the new key; this one learns of it by the first token that it does not know the key of.
    const other = await createApi({ ...deps, settings: { ...deps.settings, publicUrl: api.url } });
    const { client_id } = config.clientMetadata();
    const answer = await other.inject({
      method: 'POST',
      url: '/oauth/token',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      payload: new URLSearchParams({ grant_type: 'refresh_token', refresh_token, client_id }).toString(),
    });
    await other.close();
    const { access_token: after } = z.object({ access_token: z.string() }).parse(answer.json());
    const kids = [before, after].map((token) => decodeProtectedHeader(token).kid);
    expect(kids[0]).not.toBe(kids[1]);
    expect([await statusOf(before), await statusOf(after)]).toEqual([200, 200]);
    const jwks = z
      .object({ keys: z.array(z.looseObject({ kid: z.string() })) })
      .parse(await (await fetch(`${api.url}/oauth/jwks`)).json());
    expect(jwks.keys.map(({ kid }) => kid)).toEqual([kids[1], kids[0]]);
    expect(jwks.keys.some((key) => 'd' in key)).toBe(false);
  });

  it('leaves no code or token in the store', async () => {
    const { told, exchange } = await letIn();
    const { refresh_token: refresh = '' } = await exchange();
    const code = told.searchParams.get('code') ?? '';
    for (const model of ['AuthorizationCode', 'RefreshToken']) {
      const record = await fixture().store.oauthRecords.find(model, model === 'RefreshToken' ? refresh : code);
      expect(record).not.toBeNull();
      expect(JSON.stringify(record)).not.toContain(model === 'RefreshToken' ? refresh : code);
    }
  });
});
