import { expect, it } from 'vitest';
import { CreatedInvitation, type Member } from '../../contract/people.ts';
import { openConsole, signedIn } from './console-browser.ts';
import { useService } from './service-fixture.ts';

const fixture = useService();
const codeOf = (invitation: unknown): string =>
  new URL(CreatedInvitation.parse(invitation).url).hash.replace('#invitation=', '');

it('admits someone once, with the role it names', async () => {
  const owner = await signedIn(fixture(), { email: 'owner@join.example', role: 'owner' });
  const invite = (email: string) => owner.send('POST', '/org/invitations', { email, role: 'operator' });
  const first = (await invite('Nia@join.example')).json<{ id: string }>();
  expect(first).toMatchObject({ email: 'nia@join.example', role: 'operator' });
  const second = (await invite('nia@join.example')).json<{ id: string }>();
  const join = (made: object) => openConsole(fixture()).send('POST', '/session/invitation', { code: codeOf(made) });
  expect((await join(first)).statusCode).toBe(410);
  expect((await owner.send('GET', '/org/invitations')).json()).toHaveLength(1);
  const answers = await Promise.all([1, 2, 3].map(() => join(second)));
  expect(answers.filter(({ statusCode }) => statusCode === 200)).toHaveLength(1);
  expect(answers.find(({ statusCode }) => statusCode === 200)?.json()).toMatchObject({
    role: 'operator',
    user: { email: 'nia@join.example' },
  });
  expect((await owner.send('GET', '/org/invitations')).json()).toEqual([]);
  const withdrawn = (await invite('late@join.example')).json<{ id: string }>();
  expect((await owner.send('DELETE', `/org/invitations/${withdrawn.id}`)).statusCode).toBe(204);
  expect((await join(withdrawn)).statusCode).toBe(410);
});

it('does not give access to an account through an invitation of its address', async () => {
  const { store } = fixture();
  await store.organizations.create({ id: 'org_other', name: 'Other', plan: 'free' });
  await store.projects.create('org_other', { name: 'Main' });
  const ann = await signedIn(fixture(), { email: 'ann@account.example', role: 'viewer' });
  const other = await signedIn(fixture(), {
    email: 'mallory@other.example',
    role: 'owner',
    organizationId: 'org_other',
  });
  const invitation = { email: 'ann@account.example', role: 'owner' };
  const code = codeOf((await other.send('POST', '/org/invitations', invitation)).json());
  for (const browser of [openConsole(fixture()), other]) {
    const refused = await browser.send('POST', '/session/invitation', { code });
    expect([refused.statusCode, refused.json()]).toMatchObject([
      401,
      { message: 'Sign in as the invited person, then open the link again' },
    ]);
  }
  const joined = await ann.send('POST', '/session/invitation', { code });
  expect([joined.statusCode, joined.json()]).toMatchObject([
    200,
    { organization: { id: 'org_other' }, role: 'owner', organizations: [{ id: 'org_default' }, { id: 'org_other' }] },
  ]);
  const back = await ann.send('POST', '/session/organization', { id: 'org_default' });
  expect([back.statusCode, back.json()]).toMatchObject([200, { organization: { id: 'org_default' }, role: 'viewer' }]);
  expect((await ann.send('POST', '/session/organization', { id: 'org_none' })).statusCode).toBe(404);
});

it('does not invite members, whose role it would not change', async () => {
  const { call } = fixture();
  await signedIn(fixture(), { email: 'here@member.example', role: 'viewer' });
  const again = await call('POST', '/org/invitations', { email: 'Here@Member.example', role: 'owner' });
  expect([again.statusCode, again.json()]).toMatchObject([409, { code: 'already_exists' }]);
  const invitations = (await call('GET', '/org/invitations')).json<{ email: string }[]>();
  expect(invitations.map(({ email }) => email)).not.toContain('here@member.example');
});

it('pages members and invitations, and reads a single member', async () => {
  const { store, call } = fixture();
  await store.organizations.create({ id: 'org_pages', name: 'Pages', plan: 'free' });
  await store.projects.create('org_pages', { name: 'Main' });
  const inPages = { role: 'viewer' as const, organizationId: 'org_pages' };
  const owner = await signedIn(fixture(), { email: 'a@pages.example', ...inPages, role: 'owner' });
  for (const name of ['b', 'c']) await signedIn(fixture(), { email: `${name}@pages.example`, ...inPages });
  for (const name of ['x', 'y', 'z'])
    await owner.send('POST', '/org/invitations', { email: `${name}@pages.example`, role: 'viewer' });
  for (const [path, letters] of [
    ['/org/members', ['a', 'b', 'c']],
    ['/org/invitations', ['x', 'y', 'z']],
  ] as const) {
    const page = async (query: string) => {
      const { statusCode, headers, body } = await owner.send('GET', path + query);
      expect(statusCode).toBe(200);
      const emails = (JSON.parse(body) as { email: string }[]).map(({ email }) => email[0]);
      return [emails, headers['x-has-more'], headers['x-next-offset']];
    };
    expect(await page('?limit=2')).toEqual([letters.slice(0, 2), 'true', '2']);
    expect(await page('?limit=2&offset=2')).toEqual([letters.slice(2), 'false', '0']);
    expect(await page('')).toEqual([letters, 'false', '0']);
    expect((await owner.send('GET', `${path}?limit=0`)).statusCode).toBe(400);
  }
  const read = await owner.send('GET', `/org/members/${owner.userId}`);
  expect(read.json()).toMatchObject({ email: 'a@pages.example', role: 'owner' });
  // The default organization's key finds nobody of another one.
  expect((await call('GET', `/org/members/${owner.userId}`)).statusCode).toBe(404);
});

it('changes roles and ends memberships from the next request on, and keeps one owner', async () => {
  const { store, call } = fixture();
  await store.organizations.create({ id: 'org_small', name: 'Small', plan: 'free' });
  await store.projects.create('org_small', { name: 'Main' });
  const inSmall = { organizationId: 'org_small' };
  const owner = await signedIn(fixture(), { email: 'o@small.example', role: 'owner', ...inSmall });
  const member = await signedIn(fixture(), { email: 'm@small.example', role: 'operator', ...inSmall });
  expect((await member.send('PATCH', `/org/members/${member.userId}`, { role: 'owner' })).statusCode).toBe(403);
  for (const last of [
    await owner.send('PATCH', `/org/members/${owner.userId}`, { role: 'viewer' }),
    await owner.send('DELETE', `/org/members/${owner.userId}`),
  ])
    expect([last.statusCode, last.json()]).toMatchObject([422, { code: 'operation_failed' }]);
  expect((await owner.send('PATCH', `/org/members/${member.userId}`, { role: 'viewer' })).json()).toMatchObject({
    role: 'viewer',
  });
  expect((await member.send('POST', '/profiles', { name: 'x' })).statusCode).toBe(403);
  expect((await owner.send('DELETE', `/org/members/${member.userId}`)).statusCode).toBe(204);
  expect((await member.send('GET', '/profiles')).statusCode).toBe(401);
  expect((await owner.send('DELETE', `/org/members/${member.userId}`)).statusCode).toBe(404);
  // Another organization's key sees nothing of it.
  const seen = (await call('GET', '/org/members')).json<Member[]>();
  expect(seen.map(({ email }) => email)).not.toContain('o@small.example');
  expect((await call('DELETE', `/org/members/${owner.userId}`)).statusCode).toBe(404);
});
