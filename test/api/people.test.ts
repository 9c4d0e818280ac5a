import { describe, expect, it } from 'vitest';
import { makeSignInCode } from '../../store/administrator.ts';
import { OWN_PAGE, openConsole, signedIn } from './console-browser.ts';
import { useService } from './service-fixture.ts';

const fixture = useService();

describe('a sign-in link', () => {
  it('signs in the first administrator once, for pages of our own origin only', async () => {
    const { store } = fixture();
    const code = await makeSignInCode(store, 'org_default');
    const browser = openConsole(fixture());
    expect((await browser.send('GET', '/session')).statusCode).toBe(401);
    for (const headers of [
      {},
      { ...OWN_PAGE, origin: 'https://evil.example' },
      { ...OWN_PAGE, 'sec-fetch-site': 'same-site' },
      { origin: OWN_PAGE.origin },
    ])
      expect((await browser.send('POST', '/session/link', { code }, headers)).statusCode).toBe(403);
    const answers = await Promise.all(
      [1, 2, 3].map(() => openConsole(fixture()).send('POST', '/session/link', { code })),
    );
    expect(answers.map(({ statusCode }) => statusCode).toSorted()).toEqual([200, 410, 410]);
    const answer = answers.find(({ statusCode }) => statusCode === 200);
    expect(answer?.headers['set-cookie']).toMatch(
      /^holdfast_session=[\w-]{43}; Path=\/; Max-Age=604800; HttpOnly; SameSite=Lax$/,
    );
    expect(answer?.json()).toMatchObject({
      role: 'owner',
      organization: { id: 'org_default', name: 'Default' },
      has_password: false,
      passkeys: 0,
    });
    expect((await browser.send('POST', '/session/link', { code: 'x'.repeat(43) })).statusCode).toBe(410);
  });
});

describe('a console session', () => {
  it('identifies the caller, accepts a project header, and ends', async () => {
    const { store } = fixture();
    const { send, userId } = await signedIn(fixture(), { email: 'ann@team.example', role: 'owner' });
    const { id } = await store.projects.create('org_default', { name: 'of people' });
    expect((await send('GET', '/auth/context')).json()).toEqual({
      authentication: { method: 'jwt', source: 'dashboard', credential_id: null },
      principal: { type: 'user', id: userId },
      organization: { id: 'org_default' },
      authorization: { credential_scope: { project_id: null }, effective_scope: { project_id: null } },
    });
    const inProject = await send('GET', '/auth/context', undefined, { ...OWN_PAGE, 'x-kernel-project-id': id });
    expect(inProject.json()).toMatchObject({ authorization: { effective_scope: { project_id: id } } });
    const key = await send('POST', '/org/api_keys', { name: 'made by Ann' });
    expect([key.statusCode, key.json()]).toMatchObject([
      201,
      { created_by: { id: userId, email: 'ann@team.example' } },
    ]);
    const rows = await store.auditLog.page(
      { organizationId: 'org_default', projectId: null },
      {
        start: new Date(0),
        end: new Date(Date.now() + 60_000),
        search: 'ann@team.example',
        limit: 100,
        after: undefined,
      },
    );
    expect(rows.rows.map(({ auth_strategy: by, path }) => `${by} ${path}`)).toEqual(
      expect.arrayContaining(['dashboard /session/link', 'dashboard /org/api_keys', 'dashboard /auth/context']),
    );
    expect((await send('DELETE', '/session')).statusCode).toBe(204);
    expect((await send('GET', '/session')).statusCode).toBe(401);
  });

  it('is accepted only from our own pages, whatever another site makes the browser send', async () => {
    const { send } = await signedIn(fixture(), { email: 'bea@team.example', role: 'owner' });
    const foreign: Record<string, string>[] = [
      {},
      { 'x-holdfast-page': '1' },
      { origin: 'https://evil.example', 'x-holdfast-page': '1' },
      { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' },
      { origin: OWN_PAGE.origin, 'sec-fetch-site': 'same-site', 'x-holdfast-page': '1' },
      { origin: OWN_PAGE.origin, 'sec-fetch-site': 'same-origin' },
    ];
    for (const headers of foreign)
      expect((await send('POST', '/profiles', { name: 'forged' }, headers)).statusCode).toBe(401);
    for (const headers of [{}, { 'sec-fetch-site': 'none' }, { 'sec-fetch-site': 'cross-site' }])
      expect((await send('GET', '/profiles', undefined, headers)).statusCode).toBe(401);
    // A stream or a picture of our page has no header of ours.
    expect((await send('GET', '/profiles', undefined, { 'sec-fetch-site': 'same-origin' })).statusCode).toBe(200);
    expect((await send('POST', '/profiles', { name: 'own' })).statusCode).toBe(201);
  });

  it("has its person's role, and ends with the membership", async () => {
    const { store } = fixture();
    const viewer = await signedIn(fixture(), { email: 'vic@team.example', role: 'viewer' });
    const operator = await signedIn(fixture(), { email: 'olga@team.example', role: 'operator' });
    const calls = [
      ['GET', '/profiles', undefined, 200, 200],
      ['GET', '/org/api_keys', undefined, 200, 200],
      ['POST', '/profiles', { name: 'by role' }, 403, 201],
      ['GET', '/profiles/by%20role/download', undefined, 403, 200],
      ['GET', '/browsers', undefined, 403, 502],
      ['POST', '/org/api_keys', { name: 'no' }, 403, 403],
      ['POST', '/org/projects', { name: 'no' }, 403, 403],
      ['PATCH', '/org/limits', {}, 403, 403],
      ['DELETE', '/org/api_keys/key_x', undefined, 403, 403],
    ] as const;
    for (const [method, url, body, ofViewer, ofOperator] of calls) {
      const answers = [await viewer.send(method, url, body), await operator.send(method, url, body)];
      expect([url, ...answers.map(({ statusCode }) => statusCode)]).toEqual([url, ofViewer, ofOperator]);
    }
    expect((await viewer.send('POST', '/profiles', { name: 'x' })).json<{ message: string }>().message).toBe(
      'This requires the role operator, yours is viewer; ask an owner of the organization',
    );
    expect(await store.memberships.remove('org_default', viewer.userId)).toBe(true);
    expect((await viewer.send('GET', '/profiles')).statusCode).toBe(401);
  });

  it('shows viewers no link that allows more than reading', async () => {
    const { call } = fixture();
    const viewer = await signedIn(fixture(), { email: 'val@team.example', role: 'viewer' });
    const made = await call('POST', '/auth/connections', { domain: 'links.example', profile_name: 'links' });
    const { id } = made.json<{ id: string }>();
    await call('POST', `/auth/connections/${id}/login`);
    const [byKey, byViewer] = await Promise.all([
      call('GET', `/auth/connections/${id}`),
      viewer.send('GET', `/auth/connections/${id}`),
    ]);
    expect(byKey.json<{ hosted_url: string | null }>().hosted_url).toMatch(/code=/);
    expect(byViewer.json<{ hosted_url: string | null }>().hosted_url).toBeNull();
  });

  it('requires confirmation of identity before secrets are shown or replaced', async () => {
    const { send } = await signedIn(fixture(), { email: 'cleo@team.example', role: 'owner' });
    expect((await send('POST', '/org/api_keys', { name: 'fresh' })).statusCode).toBe(201);
    fixture().shiftClock(16 * 60_000);
    try {
      const late = await send('POST', '/org/api_keys', { name: 'late' });
      expect([late.statusCode, late.json<{ code: string }>().code]).toEqual([403, 'confirmation_required']);
      expect((await send('GET', '/org/api_keys')).statusCode).toBe(200);
    } finally {
      fixture().shiftClock(0);
    }
  });
});
