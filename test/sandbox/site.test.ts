import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Secret, TOTP } from 'otpauth';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { SANDBOX_USERS, startSandbox, type Sandbox, type SandboxUser } from '../../sandbox/site.ts';
import { control, createVisitor } from './visitor.ts';

let site: Sandbox;

beforeAll(async () => {
  site = await startSandbox({ port: 0 });
});
afterAll(() => site.close());
beforeEach(() => control(site.url, '/test/reset', {}));

function user(name: string): SandboxUser {
  const found = SANDBOX_USERS.find((each) => each.username === name);
  if (!found) throw new Error(`no user ${name}`);
  return found;
}

describe('one page', () => {
  it('signs in, shows the user, and signs out', async () => {
    const visitor = createVisitor(site.url);
    const home = await visitor.go('/login', { username: 'alice', password: user('alice').password });
    expect(home).toMatchObject({ status: 200, url: '/account' });
    expect(home.text).toContain('Alice Archer');
    expect(home.text).toContain('Sign out');
    expect(visitor.cookieLines.find((line) => line.startsWith('sandbox_session'))).toMatch(/HttpOnly/);
    expect(visitor.cookieLines.find((line) => line.startsWith('sandbox_session'))).toMatch(/Max-Age=\d+/);
    await visitor.go('/logout', {});
    expect((await visitor.go('/account')).url).toBe('/login');
  });

  it('responds with 401 and a message to a wrong password', async () => {
    const page = await createVisitor(site.url).go('/login', { username: 'alice', password: 'nope' });
    expect(page.status).toBe(401);
    expect(page.text).toContain('Incorrect username or password.');
  });

  it('is reachable as localhost and as 127.0.0.1', async () => {
    for (const host of ['localhost', '127.0.0.1']) {
      expect((await fetch(`http://${host}:${site.port}/login`)).status).toBe(200);
    }
  });
});

it('asks for the user, then for the password, and sets a session cookie', async () => {
  const visitor = createVisitor(site.url);
  expect((await visitor.go('/login/two-step', { identifier: 'nobody' })).text).toContain('find your account');
  expect((await visitor.go('/login/two-step', { identifier: 'bob@sandbox.test' })).url).toBe(
    '/login/two-step/password',
  );
  expect((await visitor.go('/login/two-step/password', { Passwd: 'wrong' })).text).toContain('Wrong password');
  expect((await visitor.go('/login/two-step/password', { Passwd: user('bob').password })).url).toBe('/account');
  expect(visitor.cookieLines.find((line) => line.startsWith('sandbox_session'))).not.toMatch(/Max-Age/);
});

it('accepts a TOTP code once', async () => {
  const { totpSecret, password } = user('carol');
  const code = new TOTP({ secret: Secret.fromBase32(totpSecret) }).generate();
  const login = async (): Promise<string> => {
    const visitor = createVisitor(site.url);
    await visitor.go('/login/totp', { 'user[login]': 'carol', 'user[password]': password });
    return (await visitor.go('/login/totp/code', { otp_attempt: code })).url;
  };
  expect(await login()).toBe('/account');
  expect(await login()).toBe('/login/totp/code');
});

it('sends a code by text message that a test can read', async () => {
  const visitor = createVisitor(site.url);
  const page = await visitor.go('/login/sms', { 'user[login]': 'dave', 'user[password]': user('dave').password });
  expect(page.text).toContain('•••-•••-••13');
  const { code } = await control(site.url, '/test/sms?user=dave');
  expect((await visitor.go('/login/sms/code', { code: '000000x' })).text).toContain('wrong or has expired');
  expect((await visitor.go('/login/sms/code', { code: String(code) })).url).toBe('/account');
});

it('offers a choice of second factors and accepts the code in boxes', async () => {
  const visitor = createVisitor(site.url);
  await visitor.go('/login/mfa-choice', { 'user[login]': 'frank', 'user[password]': user('frank').password });
  expect((await visitor.go('/login/mfa-choice/choose', { method: 'email' })).text).toContain('f•••@sandbox.test');
  const { code } = await control(site.url, '/test/email?user=frank');
  const digits = Object.fromEntries(Array.from(String(code), (digit, index) => [`digit${index}`, digit]));
  expect((await visitor.go('/login/mfa-choice/code', digits)).url).toBe('/account');
});

it('identifies a customer by a number and a user ID', async () => {
  const right = { kdnr: '471111', uid: 'bob', pin: user('bob').password };
  expect((await createVisitor(site.url).go('/login/customer', { ...right, kdnr: 'bob' })).text).toContain(
    'do not match',
  );
  expect((await createVisitor(site.url).go('/login/customer', right)).url).toBe('/account');
});

it('sends a code to the phone that was chosen, and none for a backup code', async () => {
  const visitor = createVisitor(site.url);
  await visitor.go('/login/two-phones', { 'user[login]': 'dave', 'user[password]': user('dave').password });
  await visitor.go('/login/two-phones/choose', { to: 'backup' });
  expect(await control(site.url, '/test/sms?user=dave')).toMatchObject({ code: null, to: null });
  await visitor.go('/login/two-phones/choose', { to: 'second' });
  const { code, to } = await control(site.url, '/test/sms?user=dave');
  expect(to).toBe('•••-•••-••63');
  expect((await visitor.go('/login/two-phones/code', { answer: String(code) })).url).toBe('/account');
});

it('waits for a push next to a code field, and accepts either', async () => {
  const { totpSecret, password } = user('grace');
  const begin = async () => {
    const visitor = createVisitor(site.url);
    await visitor.go('/login/push-code', { 'user[login]': 'grace', 'user[password]': password });
    return visitor;
  };
  const approved = await begin();
  await control(site.url, '/test/approve', { user: 'grace' });
  expect((await approved.go('/login/push-code/wait')).url).toBe('/account');
  const typed = await begin();
  const otp = new TOTP({ secret: Secret.fromBase32(totpSecret) }).generate();
  expect((await typed.go('/login/push-code/wait', { otp: '000000' })).url).toBe('/login/push-code/wait');
  expect((await typed.go('/login/push-code/wait', { otp })).url).toBe('/account');
});

it.each([
  ['locked', 'account has been locked'],
  ['attempts', 'Too many attempts'],
])('takes no password of a user who is locked out (%s)', async (why, words) => {
  const login = () => createVisitor(site.url).go('/login', { username: 'alice', password: user('alice').password });
  await control(site.url, '/test/lock', { user: 'alice', why });
  expect((await login()).text).toContain(words);
  await control(site.url, '/test/lock', { user: 'alice' });
  expect((await login()).url).toBe('/account');
});

it('waits for a push and for a mailed link', async () => {
  const push = createVisitor(site.url);
  await push.go('/login/push', { 'user[login]': 'heidi', 'user[password]': user('heidi').password });
  expect((await push.go('/login/push/wait')).url).toBe('/login/push/wait');
  await control(site.url, '/test/approve', { user: 'heidi' });
  expect((await push.go('/login/push/wait')).url).toBe('/account');

  const mail = createVisitor(site.url);
  expect((await mail.go('/login/magic-link', { email: 'alice@sandbox.test' })).text).toContain('Check your email');
  const { link } = await control(site.url, '/test/email?user=alice');
  await createVisitor(site.url).go(String(link));
  expect((await mail.go('/login/magic-link/wait')).url).toBe('/account');
});

it('signs in the browser that opens a mailed link if it is the waiting one', async () => {
  await control(site.url, '/test/mail-link', { opens: 'here' });
  const mail = createVisitor(site.url);
  await mail.go('/login/magic-link', { email: 'alice@sandbox.test' });
  const { link } = await control(site.url, '/test/email?user=alice');
  expect((await createVisitor(site.url).go(String(link))).text).toContain('Open this link in the browser');
  expect((await mail.go('/login/magic-link/wait')).url).toBe('/login/magic-link/wait');
  expect((await mail.go(String(link))).url).toBe('/account');
  await control(site.url, '/test/mail-link', { opens: 'there' });
});

it('signs in through its practice identity provider', async () => {
  const visitor = createVisitor(site.url);
  await visitor.go('/idp/google', { login: 'grace' });
  expect((await visitor.go('/idp/google', { login: 'grace', password: user('grace').password })).url).toBe('/account');
});

describe('test controls', () => {
  it('end every session of a single user', async () => {
    const [alice, bob] = [createVisitor(site.url), createVisitor(site.url)];
    await alice.go('/login', { username: 'alice', password: user('alice').password });
    await bob.go('/login', { username: 'bob', password: user('bob').password });
    expect(await control(site.url, '/test/expire', { user: 'alice' })).toEqual({ user: 'alice', ended: 1 });
    expect((await alice.go('/account')).url).toBe('/login');
    expect((await bob.go('/account')).url).toBe('/account');
  });

  it('change a password, and restore the documented one on reset', async () => {
    await control(site.url, '/test/users/alice/password', { password: 'another-horse' });
    const visitor = createVisitor(site.url);
    expect((await visitor.go('/login', { username: 'alice', password: user('alice').password })).status).toBe(401);
    expect((await visitor.go('/login', { username: 'alice', password: 'another-horse' })).status).toBe(200);
    await control(site.url, '/test/reset', {});
    expect((await visitor.go('/login', { username: 'alice', password: user('alice').password })).status).toBe(200);
  });

  it('make the site down, nonsensical or slow', async () => {
    const visitor = createVisitor(site.url);
    await control(site.url, '/test/mode', { mode: 'down' });
    expect((await visitor.go('/account')).status).toBe(503);
    await control(site.url, '/test/mode', { mode: 'nonsense' });
    expect((await visitor.go('/account')).text).not.toContain('password');
    await control(site.url, '/test/mode', { mode: 'slow', delay_ms: 300 });
    const before = Date.now();
    await visitor.go('/');
    expect(Date.now() - before).toBeGreaterThanOrEqual(290);
    await control(site.url, '/test/mode', { mode: 'ok' });
    expect((await visitor.go('/login')).status).toBe(200);
  });

  it('count posts without storing their values', async () => {
    const visitor = createVisitor(site.url);
    await visitor.go('/login', { username: 'alice', password: 'nope-nope' });
    await visitor.go('/login', { username: 'alice', password: user('alice').password });
    const log = await control(site.url, '/test/log?user=alice');
    expect(log).toMatchObject({
      user: 'alice',
      posts: 2,
      passwords: 2,
      accepted: 1,
      refused: 1,
      by_page: { '/login': 2 },
    });
    expect(JSON.stringify(log)).not.toContain('nope');
  });
});

it('keeps sessions over a restart, with no cookie or password in the file', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sandbox-'));
  const stateFile = join(folder, 'state.json');
  const visitor = createVisitor('http://unused');
  try {
    const first = await startSandbox({ port: 0, stateFile });
    const before = createVisitor(first.url);
    await before.go('/login', { username: 'alice', password: user('alice').password });
    for (const [name, value] of before.cookies) visitor.cookies.set(name, value);
    await first.close();
    const second = await startSandbox({ port: 0, stateFile });
    expect((await visitor.go(`${second.url}/account`)).text).toContain('Alice Archer');
    await second.close();
    const written = readFileSync(stateFile, 'utf8');
    for (const value of [...before.cookies.values(), user('alice').password]) expect(written).not.toContain(value);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
