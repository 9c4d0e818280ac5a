import type Kernel from '@onkernel/sdk';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DEFAULT_PROJECT_ID } from '../../store/store.ts';
import {
  startStandIn,
  TOKEN,
  vaultAnswers,
  type StandIn,
  type VaultSecrets,
} from '../credential-providers/stand-ins.ts';
import { startInstallation, type Installation } from './installation.ts';
import { newPerson, type Person } from './person.ts';
import { until } from './until.ts';

const secrets: VaultSecrets = {};
let vault: StandIn;
let on: Installation;
beforeAll(async () => {
  vault = await startStandIn(vaultAnswers(() => secrets));
  on = await startInstallation({ allowHosts: [vault.host] });
});
afterAll(async () => {
  await on.close();
  await vault.close();
});

/** A connection logged in by a stored credential. */
async function loggedIn(user: string, more: Partial<Kernel.Auth.ConnectionCreateParams> = {}): Promise<Person> {
  const { kernel, practice } = on;
  const { username, password } = practice.user(user);
  const name = `of ${username}`;
  await kernel.credentials.create({ name, domain: practice.domain, values: { username, password } });
  const person = await newPerson(on, { login_url: practice.page('/login'), credential: { name }, ...more });
  await person.login();
  await person.waitForSuccess();
  return person;
}

/** Requests a health check; returns the connection after it. */
function check(person: Person): Promise<Kernel.Auth.ManagedAuth> {
  return on.kernel.post(`/auth/connections/${person.id}/check`);
}

async function timelineOf(person: Person): Promise<Kernel.Auth.ManagedAuthTimelineEvent[]> {
  return (await on.kernel.auth.connections.timeline(person.id)).items;
}

describe('a requested health check', () => {
  test('detects an expired session, decides nothing while the site is down, and starts an automatic login', async () => {
    const { practice } = on;
    const person = await loggedIn('alice');
    const before = await practice.counts('alice');
    const isContent = async (method: 'browser' | 'request'): Promise<void> => {
      expect(await check(person)).toMatchObject({ status: 'AUTHENTICATED' });
      const [event] = await timelineOf(person);
      expect(event).toMatchObject({ check: { method, status: 200, address: practice.page('/account') } });
      expect(typeof event?.browser_session_id).toBe(method === 'browser' ? 'string' : 'undefined');
    };
    expect(await practice.expire('alice')).toBe(1);
    // A check without a result must not guess.
    for (const mode of ['down', 'nonsense'] as const) {
      await practice.setMode(mode);
      expect(await check(person)).toMatchObject({ status: 'AUTHENTICATED', flow_type: 'LOGIN', can_reauth: true });
    }
    await practice.setMode('ok');
    expect(await practice.counts('alice')).toEqual(before);

    await check(person);
    expect(await person.waitForReauth()).toMatchObject({ status: 'AUTHENTICATED', flow_status: 'SUCCESS' });
    expect((await practice.counts('alice')).passwords).toBe(before.passwords + 1);
    const inconclusive = {
      ...{ type: 'health_check', status: 'AUTHENTICATED', previous_status: 'AUTHENTICATED' },
      error_code: expect.stringMatching(/error/) as unknown,
    };
    expect(await timelineOf(person)).toMatchObject([
      { type: 'reauth', status: 'SUCCESS', step: 'COMPLETED' },
      { type: 'health_check', status: 'NEEDS_AUTH', previous_status: 'AUTHENTICATED', error_code: 'session_expired' },
      inconclusive,
      inconclusive,
      { type: 'login', status: 'SUCCESS' },
    ]);
    // The profile holds the new session. The first check after a login finds the request for checks without a browser.
    await isContent('browser');
    await isContent('request');
    expect((await practice.counts('alice')).passwords).toBe(before.passwords + 1);
  });

  test('never tries a rejected password twice, and tries a new one once', async () => {
    const { kernel, practice } = on;
    const person = await loggedIn('bob');
    const before = await practice.counts('bob');
    await practice.setPassword('bob', 'changed-at-the-site');
    await practice.expire('bob');

    await check(person);
    expect(await person.waitForReauth()).toMatchObject({
      status: 'NEEDS_AUTH',
      flow_status: 'FAILED',
      error_code: 'credentials_invalid',
      website_error: 'Incorrect username or password.',
      can_reauth: false,
      can_reauth_reason: 'requires_customer_input',
    });
    const refused = await practice.counts('bob');
    expect(refused.passwords).toBe(before.passwords + 1);
    expect(await check(person)).toMatchObject({ status: 'NEEDS_AUTH' });
    expect((await timelineOf(person)).filter(({ type }) => type === 'reauth')).toHaveLength(1);

    await kernel.credentials.update('of bob', { values: { password: 'changed-at-the-site' } });
    await until(
      'the gate to open',
      () => person.read(),
      ({ can_reauth: can, can_reauth_reason: reason }) => can === true && reason !== 'requires_customer_input',
    );
    await check(person);
    await until(
      'the second re-authentication',
      () => person.read(),
      ({ status, flow_status: flow }) => status === 'AUTHENTICATED' && flow === 'SUCCESS',
      60_000,
    );
    expect(await practice.counts('bob')).toMatchObject({ passwords: refused.passwords + 1, refused: refused.refused });
  });

  test('does not accept another account than the one logged in before', async () => {
    const { kernel, practice } = on;
    const { username, password } = practice.user('heidi');
    const name = 'one account alone';
    const before = await kernel.credentials.create({ name, domain: practice.domain, values: { username, password } });
    const person = await newPerson(on, { login_url: practice.page('/login'), credential: { name } });
    await person.login();
    await person.waitForSuccess();
    await practice.switchAccount('heidi', 'frank');
    await practice.expire('heidi');

    await check(person);
    expect(await person.waitForReauth()).toMatchObject({
      ...{ status: 'NEEDS_AUTH', flow_status: 'FAILED', error_code: 'account_mismatch', can_reauth: false },
    });
    expect(await kernel.credentials.retrieve(name)).toEqual(before);
    // The profile has no session of the other account, so the next login shows the form.
    const { passwords } = await practice.counts('heidi');
    await practice.switchAccount('heidi', null);
    await person.login();
    expect(await person.waitForSuccess()).toMatchObject({ status: 'AUTHENTICATED', can_reauth: true });
    expect((await practice.counts('heidi')).passwords).toBe(passwords + 1);
    await kernel.auth.connections.delete(person.id);
  });

  test('logs in again with delivered codes, and notifies webhooks', async () => {
    const { kernel, practice } = on;
    const { id } = await kernel.post<{ id: string }>('/webhooks', { body: { url: practice.page('/test/nowhere') } });
    const { username, password } = practice.user('grace');
    const name = 'with texts';
    await kernel.credentials.create({ name, domain: practice.domain, values: { username, password } });
    const person = await newPerson(on, { login_url: practice.page('/login/sms'), credential: { name } });
    await kernel.patch(`/auth/connections/${person.id}`, { body: { codes: { api: ['sms'] } } });
    const url = `${on.baseUrl}/auth/connections/${person.id}/codes`;
    await practice.deliver('grace', { url, secret: on.apiKey });

    await person.login();
    expect(await person.waitForSuccess()).toMatchObject({
      can_reauth: true,
      can_reauth_reason: 'requirements_satisfiable',
    });
    const secret = 'the auth token of nobody';
    const source = await kernel.post<{ url: string }>('/code_sources', { body: { type: 'twilio', secret } });
    const phone = '+15550100016';
    await kernel.patch(`/auth/connections/${person.id}`, { body: { codes: { phone_number: phone } } });
    await practice.deliver('grace', { url: source.url, secret, as: 'twilio', to: phone });
    await practice.expire('grace');
    await check(person);
    expect(await person.waitForReauth()).toMatchObject({ status: 'AUTHENTICATED', flow_status: 'SUCCESS' });
    expect(await practice.counts('grace')).toMatchObject({ passwords: 2, codes: 2, refused: 0 });
    const told = await kernel.get<{ event_type: string }[]>(`/webhooks/${id}/deliveries`);
    expect(new Set(told.map((delivery) => delivery.event_type))).toEqual(
      new Set(
        ['authenticated', 'needs_auth', 'flow_ended', 'awaiting_input', 'recovered'].map(
          (type) => `connection.${type}`,
        ),
      ),
    );
    await kernel.delete(`/webhooks/${id}`);
    await kernel.auth.connections.delete(person.id);
  });

  test('logs in again by a mailed link, opened in its own browser session', async () => {
    const { kernel, practice } = on;
    const name = 'with mails';
    const values = { email: practice.user('frank').email };
    await kernel.credentials.create({ name, domain: practice.domain, values });
    const person = await newPerson(on, { login_url: practice.page('/login/magic-link'), credential: { name } });
    const secret = 'the signing key of nobody';
    const source = await kernel.post<{ url: string }>('/code_sources', { body: { type: 'mailgun', secret } });
    const mailbox = 'frank@mail.example';
    await kernel.patch(`/auth/connections/${person.id}`, { body: { codes: { email_address: mailbox } } });
    await practice.deliver('frank', { url: source.url, secret, as: 'mailgun', to: mailbox });

    // The link continues the waiting page, once the button of the link's page is clicked.
    await practice.setMailedLink('there', 'button');
    await person.login();
    expect(await person.waitForSuccess()).toMatchObject({
      can_reauth: true,
      can_reauth_reason: 'requirements_satisfiable',
    });
    // The link signs in the browser that opens it, which must be the waiting one.
    await practice.setMailedLink('here');
    await practice.expire('frank');
    await check(person);
    expect(await person.waitForReauth()).toMatchObject({ status: 'AUTHENTICATED', flow_status: 'SUCCESS' });
    await practice.setMailedLink('there');
    expect(await practice.counts('frank')).toMatchObject({ codes: 2, refused: 0 });
    await kernel.auth.connections.delete(person.id);
  });
});

describe('a recorded connection', () => {
  test('has a video of its login and of its check, visible only in its project', async () => {
    const { kernel } = on;
    const person = await loggedIn('erin', { record_session: true, login_url: on.practice.page('/login') });
    await check(person);
    const timeline = await timelineOf(person);
    expect(timeline.map(({ type }) => type)).toEqual(['health_check', 'login']);
    for (const { browser_session_id: id = '', replay_id: replayId = '' } of timeline) {
      expect(replayId).toMatch(/^rep_/);
      const replays = await kernel.browsers.replays.list(id);
      expect(replays.map((replay) => [replay.replay_id, typeof replay.finished_at])).toEqual([[replayId, 'string']]);
      const video = Buffer.from(await (await kernel.browsers.replays.download(replayId, { id })).arrayBuffer());
      expect(video.subarray(4, 8).toString('latin1')).toBe('ftyp');
      // Recorded inside the session and fetched before it ended.
      const kept = await on.store.recordings.find(DEFAULT_PROJECT_ID, id, replayId);
      expect(kept).toMatchObject({ bytes: video.length });
      const { id: otherProject } = await kernel.projects.create({ name: `no videos of ${replayId}` });
      const elsewhere = { headers: { 'X-Kernel-Project-Id': otherProject } };
      await expect(kernel.browsers.replays.download(replayId, { id }, elsewhere)).rejects.toMatchObject({
        status: 404,
      });
    }
  });
});

describe('a passkey', () => {
  test('that a person lets Holdfast keep replaces password and code', async () => {
    const { kernel, practice, store } = on;
    const { username, password } = practice.user('alice');
    const person = await newPerson(on, { login_url: practice.page('/login/passkey-offer') });
    await person.login();
    await person.waitForInput();
    await person.answer({ identifier: username, password });
    await person.waitForInput();
    await person.answer({ code: (await practice.smsCode('alice')) ?? '' });
    const offer = await person.waitForInput();
    expect(offer.choices).toMatchObject([
      {
        id: 'create_passkey',
        label: 'Create a passkey',
        description: expect.stringContaining('Holdfast keeps') as unknown,
      },
      { label: 'Not now' },
    ]);
    expect(await practice.passkeys('alice')).toEqual([]);
    await person.choose(({ id }) => id === 'create_passkey');
    expect(await person.waitForSuccess()).toMatchObject({
      can_reauth: true,
      can_reauth_reason: 'requirements_satisfiable',
    });

    const [passkey] = await practice.passkeys('alice');
    const saved = await kernel.get<Record<string, unknown>>(
      `/credentials/${encodeURIComponent((await person.read()).credential?.name ?? '')}`,
    );
    expect(saved).toMatchObject({
      has_passkeys: true,
      passkeys: [{ credential_id: passkey?.id, rp_id: 'localhost' }],
    });
    const before = await practice.counts('alice');
    const hasSigned = async (times: number): Promise<void> => {
      const [used] = await practice.passkeys('alice');
      expect(used?.count).toBe((passkey?.count ?? 0) + times);
      const opened = await store.credentials.open(String(saved['id']));
      expect(opened?.passkeys).toMatchObject([{ credential_id: passkey?.id, sign_count: used?.count }]);
    };
    await practice.expire('alice');
    await check(person);
    expect(await person.waitForReauth()).toMatchObject({ status: 'AUTHENTICATED', flow_status: 'SUCCESS' });
    await hasSigned(1);

    // Another connection uses it on a page that accepts only passkeys; on another site it is not used.
    const name = String(saved['name']);
    const byButton = await newPerson(on, { login_url: practice.page('/login/passkey'), credential: { name } });
    await byButton.login();
    await byButton.waitForSuccess();
    await hasSigned(2);
    expect(await practice.counts('alice')).toEqual(before);

    // An external secret store has an older counter, and the site rejects one that does not grow.
    const { passkeys } = (await store.credentials.open(String(saved['id']))) ?? {};
    secrets['sites/alice'] = { data: { passkeys: passkeys?.map((each) => ({ ...each, sign_count: 1 })) } };
    const provider = { name: 'bao', provider_type: 'vault', token: TOKEN, address: vault.address };
    await kernel.post('/org/credential_providers', { body: provider });
    const credential = { provider: 'bao', path: 'sites/alice' };
    const external = await newPerson(on, { login_url: practice.page('/login/passkey'), credential });
    await external.login();
    expect(await external.waitForSuccess()).toMatchObject({ can_reauth_reason: 'requirements_satisfiable' });
    expect(await practice.counts('alice')).toEqual(before);
  });

  test("that a person lets Holdfast keep is written to the login's external secret store", async () => {
    const { kernel, practice } = on;
    const { username, password } = practice.user('bob');
    await practice.setPassword('bob', password);
    const item = { data: { username, password, note: 'kept' }, version: 7 };
    secrets['sites/bob'] = item;
    const provider = { name: 'writable', provider_type: 'vault', token: TOKEN, address: vault.address };
    await kernel.post('/org/credential_providers', { body: provider });
    const credential = { provider: 'writable', path: 'sites/bob' };
    const person = await newPerson(on, { login_url: practice.page('/login/passkey-offer'), credential });
    await person.login();
    await person.waitForInput();
    await person.answer({ code: (await practice.smsCode('bob')) ?? '' });
    await person.waitForInput();
    await person.choose(({ id }) => id === 'create_passkey');
    expect(await person.waitForSuccess()).toMatchObject({
      can_reauth: true,
      can_reauth_reason: 'requirements_satisfiable',
    });
    const [passkey] = await practice.passkeys('bob');
    expect(item).toMatchObject({
      data: { username, password, note: 'kept', passkeys: [{ credential_id: passkey?.id, rp_id: 'localhost' }] },
      version: 8,
    });

    const before = await practice.counts('bob');
    await practice.expire('bob');
    await check(person);
    expect(await person.waitForReauth()).toMatchObject({ status: 'AUTHENTICATED', flow_status: 'SUCCESS' });
    expect(await practice.counts('bob')).toEqual(before);
  });
});
