import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Provider } from 'oidc-provider';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Cookie, CookieJar } from 'tough-cookie';
import type { LightMyRequestResponse } from 'fastify';
import { createApi } from '../../api/service.ts';
import type { ApiServer } from '../../api/context.ts';
import type { OidcRule } from '../../api/people/oidc-rules.ts';
import type { Session } from '../../contract/people.ts';
import { OWN_PAGE } from './console-browser.ts';
import { useService } from './service-fixture.ts';

const fixture = useService();
const PUBLIC_URL = 'http://holdfast.test:8080';
const RULES: OidcRule[] = [
  { who: { domain: 'corp.example' }, organizationId: 'org_default', role: 'viewer' },
  { who: { group: 'ops' }, organizationId: 'org_default', role: 'operator' },
];
/** Who signs in at the provider: by the name in the `login_as` header of the tests' browser. */
const ACCOUNTS: Record<string, { email: string; email_verified: boolean; groups?: string[] }> = {
  ann: { email: 'Ann@corp.example', email_verified: true },
  otto: { email: 'otto@corp.example', email_verified: true, groups: ['ops'] },
  eve: { email: 'eve@elsewhere.example', email_verified: true },
  evil: { email: 'evil@notcorp.example', email_verified: true },
  mallory: { email: 'mallory@corp.example', email_verified: false },
  max: { email: 'member@elsewhere.example', email_verified: true },
  olga: { email: 'olga@corp.example', email_verified: true, groups: ['ops'] },
};

let provider: Server;
let app: ApiServer;

beforeAll(async () => {
  provider = createServer();
  await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve));
  const issuer = `http://127.0.0.1:${(provider.address() as AddressInfo).port}`;
  const openid = new Provider(issuer, {
    clients: [
      {
        client_id: 'holdfast',
        client_secret: 'of the client',
        redirect_uris: [`${PUBLIC_URL}/session/oidc/callback`],
        require_auth_time: true,
      },
    ],
    claims: { openid: ['sub', 'groups'], email: ['email', 'email_verified'], profile: ['name'] },
    findAccount: (_ctx, id) => ({ accountId: id, claims: () => ({ sub: id, ...ACCOUNTS[id] }) }),
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_ctx, interaction) => `/sign-in/${interaction.uid}` },
    loadExistingGrant: async (ctx) => {
      const accountId = ctx.oidc.session?.accountId ?? '';
      const grant = new ctx.oidc.provider.Grant({ accountId, clientId: 'holdfast' });
      grant.addOIDCScope('openid email profile');
      await grant.save();
      return grant;
    },
  });
  const answer = openid.callback();
  provider.on('request', (request, response) => {
    if (request.url?.startsWith('/sign-in/') !== true) return void answer(request, response);
    const accountId = String(request.headers['login-as']);
    if (accountId === 'nobody') return void openid.interactionFinished(request, response, { error: 'access_denied' });
    return void openid.interactionFinished(request, response, { login: { accountId } });
  });
  const { deps } = fixture();
  const oidc = { issuer, clientId: 'holdfast', clientSecret: 'of the client', rules: RULES };
  app = await createApi({ ...deps, settings: { ...deps.settings, publicUrl: PUBLIC_URL, oidc } });
  await app.ready();
});
afterAll(async () => {
  await app.close();
  provider.close();
});

/** A browser on its way through the provider: our cookies, and those of the provider. */
interface Visitor {
  session: string;
  jar: CookieJar;
}
const visitor = (): Visitor => ({ session: 'none=1', jar: new CookieJar() });

/** From where a way begins at the provider, through it as somebody; answers where that leads back to. */
async function throughProvider(as: string, begun?: { url: string; cookie: string; jar: CookieJar }) {
  const { url: first, cookie, jar } = begun ?? (await begin());
  let url = first;
  while (!url.startsWith(PUBLIC_URL)) {
    const response = await fetch(url, {
      redirect: 'manual',
      headers: { cookie: await jar.getCookieString(url), 'login-as': as },
    });
    for (const line of response.headers.getSetCookie()) {
      const parsed = Cookie.parse(line);
      if (parsed !== undefined) await jar.setCookie(parsed, url);
    }
    url = new URL(response.headers.get('location') ?? '', url).href;
  }
  return { cookie, callback: url.slice(PUBLIC_URL.length) };
}

/** Begins a sign-in. */
async function begin({ jar }: Pick<Visitor, 'jar'> = visitor()) {
  const begun = await app.inject('/session/oidc');
  expect(begun.statusCode).toBe(302);
  return { url: String(begun.headers.location), cookie: cookieOf(begun, 'holdfast_oidc='), jar };
}

function cookieOf({ headers }: LightMyRequestResponse, start: string): string {
  const line = [headers['set-cookie'] ?? ''].flat().find((one) => one.startsWith(start));
  return line?.split(';')[0] ?? 'none=1';
}

/** Comes back from the provider, and asks who is signed in. */
async function comeBack({ cookie, callback }: { cookie: string; callback: string }) {
  const answer = await app.inject({ url: callback, headers: { cookie, 'sec-fetch-site': 'cross-site' } });
  const sessionCookie = cookieOf(answer, 'holdfast_session=');
  return {
    status: answer.statusCode,
    to: answer.headers.location,
    sessionCookie,
    session: await sessionOf(sessionCookie),
  };
}

async function sessionOf(cookie: string): Promise<Session> {
  return (await app.inject({ url: '/session', headers: { ...OWN_PAGE, cookie } })).json<Session>();
}

describe('an OpenID provider', () => {
  it('admits only people matched by a rule, with its role', async () => {
    const ann = await comeBack(await throughProvider('ann'));
    expect([ann.status, ann.to]).toEqual([302, `${PUBLIC_URL}/console`]);
    expect(ann.session).toMatchObject({ user: { email: 'ann@corp.example' }, role: 'viewer', has_password: false });
    expect((await comeBack(await throughProvider('otto'))).session).toMatchObject({ role: 'operator' });
    for (const stranger of ['eve', 'evil', 'mallory'])
      expect([stranger, (await comeBack(await throughProvider(stranger))).status]).toEqual([stranger, 403]);
    expect((await app.inject('/session/methods')).json()).toMatchObject({ oidc: true });
  });

  it('links a member by verified address, and then by subject', async () => {
    const { store } = fixture();
    const email = 'member@elsewhere.example';
    const user = await store.users.create({ organizationId: 'org_default', email, name: 'Max' });
    await store.memberships.add('org_default', user.id, 'owner');
    expect((await comeBack(await throughProvider('max'))).session).toMatchObject({
      user: { id: user.id },
      role: 'owner',
    });
    ACCOUNTS['max'] = { email: 'renamed@elsewhere.example', email_verified: true };
    expect((await comeBack(await throughProvider('max'))).session).toMatchObject({ user: { id: user.id } });
    ACCOUNTS['eve'] = { email, email_verified: true };
    expect((await comeBack(await throughProvider('eve'))).status).toBe(403);
  });

  it('is trusted once, in the browser that started, for what it signed', async () => {
    const begun = await throughProvider('ann');
    const other = await throughProvider('ann');
    expect((await comeBack({ ...begun, cookie: 'none=1' })).status).toBe(410);
    // The way back of one browser, taken to another.
    expect((await comeBack({ cookie: other.cookie, callback: begun.callback })).status).toBe(403);
    expect((await comeBack(begun)).status).toBe(302);
    const whole = await throughProvider('ann');
    expect((await comeBack(whole)).status).toBe(302);
    expect((await comeBack(whole)).status).toBe(410);
    expect((await fixture().app.inject('/session/oidc')).statusCode).toBe(404);
  });
});

/** What a person's browser asks for when it opens an address. */
const OPENS = { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' };

describe('an OpenID error', () => {
  const shown = async (url: string, cookie: string, language = 'en') => {
    const answer = await app.inject({ url, headers: { ...OPENS, cookie, 'accept-language': language } });
    return { status: answer.statusCode, type: answer.headers['content-type'], page: answer.body, answer };
  };

  it("is a page in the person's language that says what to do, with the right status", async () => {
    const kinds: [as: string, status: number, en: string, de: string][] = [
      ['nobody', 403, 'Your identity provider did not let you in', 'Dein Identitätsanbieter hat dich nicht'],
      ['evil', 403, 'Ask an owner of your organization', 'Bitte einen Eigentümer'],
      ['mallory', 403, 'Your email address is not verified', 'Deine E-Mail-Adresse ist nicht bestätigt'],
    ];
    for (const [as, status, en, de] of kinds) {
      const [english, german] = [await throughProvider(as), await throughProvider(as)];
      const inEnglish = await shown(english.callback, english.cookie);
      expect(inEnglish).toMatchObject({ status, type: 'text/html; charset=utf-8' });
      expect(inEnglish.page).toContain('<html lang="en">');
      expect(inEnglish.page).toContain(en);
      expect(inEnglish.page).toContain('href="/console"');
      expect(inEnglish.answer.headers['content-security-policy']).toContain("default-src 'none'");
      const inGerman = await shown(german.callback, german.cookie, 'de-AT,de;q=0.9,en;q=0.5');
      expect(inGerman.status).toBe(status);
      expect(inGerman.page).toContain('<html lang="de">');
      expect(inGerman.page).toContain(de);
    }
  });

  it('distinguishes a foreign state, a used one and an unavailable provider, and echoes nothing', async () => {
    const { cookie, callback } = await throughProvider('ann');
    const other = await throughProvider('ann');
    const mismatch = await shown(callback, other.cookie);
    expect([mismatch.status, mismatch.page]).toEqual([403, expect.stringContaining('could not be verified')]);
    const used = await shown(other.callback, other.cookie);
    expect([used.status, used.page]).toEqual([410, expect.stringContaining('This sign-in has expired')]);
    expect((await shown(callback, cookie)).status).toBe(302);

    const said = '<script>alert(1)</script>';
    const { url, cookie: begun } = await begin();
    const told = new URLSearchParams({
      error: 'access_denied',
      error_description: said,
      state: new URL(url).searchParams.get('state') ?? '',
      iss: new URL(url).origin,
    });
    const refused = await shown(`/session/oidc/callback?${told.toString()}`, begun);
    expect([refused.status, refused.page]).toEqual([403, expect.stringContaining('did not let you in')]);
    expect(refused.page).not.toContain('alert(1)');

    const { deps } = fixture();
    const oidc = { issuer: 'http://127.0.0.1:9', clientId: 'holdfast', clientSecret: 'of the client', rules: [] };
    const alone = await createApi({ ...deps, settings: { ...deps.settings, publicUrl: PUBLIC_URL, oidc } });
    const away = await alone.inject({ url: '/session/oidc', headers: { ...OPENS, 'accept-language': 'de' } });
    expect([away.statusCode, away.body]).toEqual([503, expect.stringContaining('antwortet nicht')]);
    expect(away.headers['retry-after']).toBeDefined();
    const asJson = await alone.inject('/session/oidc');
    expect([asJson.statusCode, asJson.json()]).toMatchObject([
      503,
      { code: 'unavailable', inner_error: { code: 'oidc_unavailable' } },
    ]);
    await alone.close();
    const none = await fixture().app.inject({ url: '/session/oidc', headers: OPENS });
    expect([none.statusCode, none.body]).toEqual([404, expect.stringContaining('No identity provider')]);
  });
});

describe('a person who signs in with the provider only', () => {
  const askToConfirm = (cookie: string, return_to = '/console/keys?project=a') =>
    app.inject({
      method: 'POST',
      url: '/session/oidc/confirm',
      headers: { ...OWN_PAGE, cookie },
      payload: { return_to },
    });
  /** Begins a confirmation in a session; `cookie` is both that of the session and that of the way. */
  const beginConfirmation = async (session: string) => {
    const begun = await askToConfirm(session);
    const { url } = begun.json<{ url: string }>();
    return { url: new URL(url), cookie: `${cookieOf(begun, 'holdfast_oidc=')}; ${session}` };
  };
  const signIn = async (as: string) => {
    const { jar } = visitor();
    const back = await comeBack(await throughProvider(as, await begin({ jar })));
    expect(back.status).toBe(302);
    return { jar, cookie: back.sessionCookie, session: back.session };
  };
  const rename = (cookie: string) =>
    app.inject({ method: 'PATCH', url: '/session/account', headers: { ...OWN_PAGE, cookie }, payload: { name: 'O' } });
  const openPage = (url: string, cookie: string) => app.inject({ url, headers: { ...OPENS, cookie } });

  it('confirms there and returns to the page they were on', async () => {
    const { jar, cookie, session } = await signIn('olga');
    expect(session).toMatchObject({ has_oidc: true, has_password: false, passkeys: 0 });
    fixture().shiftClock(20 * 60_000);
    expect((await rename(cookie)).json()).toMatchObject({ code: 'confirmation_required' });
    fixture().shiftClock(0);
    const { url, cookie: cookies } = await beginConfirmation(cookie);
    expect([url.searchParams.get('prompt'), url.searchParams.get('max_age')]).toEqual(['login', '0']);
    const { callback } = await throughProvider('olga', { url: url.href, cookie: cookies, jar });
    const back = await openPage(callback, cookies);
    expect([back.statusCode, back.headers.location]).toEqual([302, `${PUBLIC_URL}/console/keys?project=a`]);
    // The same session goes on, confirmed later than it was begun.
    expect(cookieOf(back, 'holdfast_session=')).toBe('none=1');
    const after = await sessionOf(cookie);
    expect(Date.parse(after.confirmed_until ?? '')).toBeGreaterThan(Date.parse(session.confirmed_until ?? ''));
    expect((await openPage(callback, cookies)).statusCode).toBe(410);
  });

  it('is not confirmed by an earlier sign-in, however the provider came to return it', async () => {
    const { jar, cookie, session } = await signIn('olga');
    // Ours is twenty minutes on, so that what the provider remembers is old; whoever holds the address can have it not ask again.
    fixture().shiftClock(20 * 60_000);
    const { url, cookie: cookies } = await beginConfirmation(cookie);
    fixture().shiftClock(0);
    url.searchParams.delete('prompt');
    url.searchParams.delete('max_age');
    const { callback } = await throughProvider('olga', { url: url.href, cookie: cookies, jar });
    const back = await openPage(callback, cookies);
    expect([back.statusCode, back.body]).toEqual([
      403,
      expect.stringContaining('The provider did not ask you to sign in again'),
    ]);
    expect(back.body).toContain('href="/console/keys?project=a"');
    expect((await sessionOf(cookie)).confirmed_until).toBe(session.confirmed_until);
  });

  it('is not confirmed by anyone else or in another session, and not redirected to another site', async () => {
    const { cookie, session } = await signIn('olga');
    const asAnn = await beginConfirmation(cookie);
    const ann = await throughProvider('ann', { url: asAnn.url.href, cookie: asAnn.cookie, jar: new CookieJar() });
    expect((await openPage(ann.callback, asAnn.cookie)).body).toContain('Someone else is signed in at the provider');
    const signedOut = await beginConfirmation(cookie);
    const olga = await throughProvider('olga', {
      url: signedOut.url.href,
      cookie: signedOut.cookie,
      jar: new CookieJar(),
    });
    const alone = await openPage(olga.callback, signedOut.cookie.split('; ')[0] ?? '');
    expect([alone.statusCode, alone.body]).toEqual([410, expect.stringContaining('Your session has ended')]);
    expect((await sessionOf(cookie)).confirmed_until).toBe(session.confirmed_until);
    for (const elsewhere of [
      'https://evil.example/',
      '//evil.example',
      '/console//evil.example',
      '/login/x',
      '/console/\\evil',
    ])
      expect([elsewhere, (await askToConfirm(cookie, elsewhere)).statusCode]).toEqual([elsewhere, 400]);
  });
});
