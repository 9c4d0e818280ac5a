import { Secret, TOTP } from 'otpauth';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { makeSignInCode } from '../../store/administrator.ts';
import type { Session } from '../../contract/people.ts';
import { openConsole, signedIn } from './console-browser.ts';
import { useService } from './service-fixture.ts';

const fixture = useService();
const PASSWORD = 'correct horse battery';

/** The code of an authenticator, `periods` of 30 seconds from now. */
function codeOf(secret: string, periods = 0): string {
  return new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: Date.now() + periods * 30_000 });
}

describe('a password', () => {
  it('signs in once its authenticator is confirmed; codes are single-use and all rejections read the same', async () => {
    // A code lasts thirty seconds: the next one would be accepted where this one is refused.
    vi.useFakeTimers({ toFake: ['Date'] });
    onTestFinished(() => {
      vi.useRealTimers();
    });
    const { store } = fixture();
    const code = await makeSignInCode(store, 'org_default');
    const first = openConsole(fixture());
    await first.send('POST', '/session/link', { code });
    expect((await first.send('PATCH', '/session/account', { email: 'Root@Team.example' })).statusCode).toBe(200);
    expect((await first.send('PATCH', '/session/account', { email: 'ceo@team.example' })).statusCode).toBe(400);
    expect((await first.send('POST', '/session/account/password', { password: 'short' })).statusCode).toBe(400);
    const enrolment = (await first.send('POST', '/session/account/password', { password: PASSWORD })).json<{
      totp_secret: string;
      totp_url: string;
    }>();
    expect(enrolment.totp_url).toContain(`secret=${enrolment.totp_secret}`);
    const secret = enrolment.totp_secret;
    const signIn = (password: string, shown: string, email = 'root@team.example') =>
      openConsole(fixture()).send('POST', '/session/password', { email, password, code: shown });
    expect((await signIn(PASSWORD, codeOf(secret))).statusCode).toBe(401);
    expect(await store.memberships.hasReachableOwner('org_default')).toBe(false);

    const confirm = (shown: string) => first.send('POST', '/session/account/password/confirm', { code: shown });
    expect((await confirm('000000')).statusCode).toBe(400);
    expect((await confirm(codeOf(secret, -1))).json<Session>()).toMatchObject({ has_password: true });
    expect(await store.memberships.hasReachableOwner('org_default')).toBe(true);

    const refusals = [
      await signIn(PASSWORD, codeOf(secret, -1)),
      await signIn('another password', codeOf(secret)),
      await signIn(PASSWORD, codeOf(secret), 'nobody@team.example'),
      await openConsole(fixture()).send('POST', '/session/password', {
        email: 'root@team.example',
        password: PASSWORD,
      }),
    ];
    expect(new Set(refusals.map(({ statusCode, body }) => `${statusCode} ${body}`)).size).toBe(1);
    expect(refusals[0]?.statusCode).toBe(401);
    const signedInByIt = await signIn(PASSWORD, codeOf(secret));
    expect([signedInByIt.statusCode, signedInByIt.json<Session>().user.email]).toEqual([200, 'root@team.example']);
    expect((await signIn(PASSWORD, codeOf(secret))).statusCode).toBe(401);

    const confirmed = await first.send('POST', '/session/confirm', { password: PASSWORD, code: codeOf(secret, 1) });
    expect(confirmed.statusCode).toBe(200);
    expect((await first.send('POST', '/session/confirm', { password: 'no', code: codeOf(secret, 1) })).statusCode).toBe(
      403,
    );
  });

  it('cannot be guessed: attempts per account are limited, wherever they come from', async () => {
    const statuses = new Set<number>();
    for (let attempt = 0; attempt < 12; attempt += 1) {
      const body = { email: 'guessed@team.example', password: `guess ${attempt}`, code: '123456' };
      statuses.add((await openConsole(fixture()).send('POST', '/session/password', body)).statusCode);
    }
    expect(statuses).toEqual(new Set([401, 429]));
  });
});

describe('members', () => {
  it('join by invitation, and the last owner stays', async () => {
    const { store } = fixture();
    await store.organizations.create({ id: 'org_second', name: 'Second', plan: 'free' });
    const organizationId = 'org_second';
    const owner = await signedIn(fixture(), { email: 'own@second.example', role: 'owner', organizationId });
    const made = await owner.send('POST', '/org/invitations', { email: 'New@second.example', role: 'viewer' });
    const { id, url } = made.json<{ id: string; url: string }>();
    expect([made.statusCode, url]).toEqual([201, expect.stringMatching(/\/console#invitation=[\w-]{43}$/)]);
    expect((await owner.send('GET', '/org/invitations')).json()).toMatchObject([{ id, email: 'new@second.example' }]);
    const code = url.split('=')[1];
    const invited = openConsole(fixture());
    const accepted = await invited.send('POST', '/session/invitation', { code });
    expect(accepted.json()).toMatchObject({ role: 'viewer', organization: { id: organizationId } });
    expect((await openConsole(fixture()).send('POST', '/session/invitation', { code })).statusCode).toBe(410);
    expect((await invited.send('POST', '/org/invitations', { email: 'x@y.example', role: 'owner' })).statusCode).toBe(
      403,
    );

    const members = (await owner.send('GET', '/org/members')).json<{ id: string; email: string }[]>();
    expect(members.map(({ email }) => email)).toEqual(['new@second.example', 'own@second.example']);
    const newcomer = members[0]?.id ?? '';
    for (const [method, body] of [
      ['PATCH', { role: 'viewer' }],
      ['DELETE', undefined],
    ] as const)
      expect((await owner.send(method, `/org/members/${owner.userId}`, body)).statusCode).toBe(422);
    expect((await owner.send('PATCH', `/org/members/${newcomer}`, { role: 'operator' })).json()).toMatchObject({
      role: 'operator',
    });
    expect((await invited.send('GET', '/session')).json()).toMatchObject({ role: 'operator' });
    expect((await owner.send('DELETE', `/org/members/${newcomer}`)).statusCode).toBe(204);
    expect((await invited.send('GET', '/session')).statusCode).toBe(401);
  });

  it('switch between their organizations; nobody signs in as someone else through an invitation', async () => {
    const { store } = fixture();
    await store.organizations.create({ id: 'org_third', name: 'Third', plan: 'free' });
    const ada = await signedIn(fixture(), { email: 'ada@team.example', role: 'operator' });
    const owner = await signedIn(fixture(), { email: 'own@third.example', role: 'owner', organizationId: 'org_third' });
    const made = await owner.send('POST', '/org/invitations', { email: 'ada@team.example', role: 'owner' });
    const code = made.json<{ url: string }>().url.split('=')[1];
    // Whoever invites holds the link, too.
    expect((await owner.send('POST', '/session/invitation', { code })).statusCode).toBe(401);
    expect((await ada.send('POST', '/session/organization', { id: 'org_third' })).statusCode).toBe(404);
    expect((await ada.send('POST', '/session/invitation', { code })).json()).toMatchObject({
      role: 'owner',
      organization: { id: 'org_third' },
      organizations: [{ id: 'org_default' }, { id: 'org_third' }],
    });
    const back = await ada.send('POST', '/session/organization', { id: 'org_default' });
    expect(back.json()).toMatchObject({ role: 'operator', organization: { id: 'org_default' } });
    expect((await ada.send('GET', '/org/members/nobody')).statusCode).toBe(404);
  });
});
