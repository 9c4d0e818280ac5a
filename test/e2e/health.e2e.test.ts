import type Kernel from '@onkernel/sdk';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DEFAULT_PROJECT_ID } from '../../store/store.ts';
import { startInstallation, type Installation } from './installation.ts';
import { newcomer, type Person } from './person.ts';
import { refusalOf } from './refusal.ts';
import { until } from './until.ts';

let on: Installation;
beforeAll(async () => {
  on = await startInstallation();
});
afterAll(() => on.close());

/** A connection that a stored credential has logged in. */
async function loggedIn(user: string, more: Partial<Kernel.Auth.ConnectionCreateParams> = {}): Promise<Person> {
  const { kernel, practice } = on;
  const { username, password } = practice.user(user);
  const name = `of ${username}`;
  await kernel.credentials.create({ name, domain: practice.domain, values: { username, password } });
  const person = await newcomer(on, { login_url: practice.page('/login'), credential: { name }, ...more });
  await person.login();
  await person.loggedIn();
  return person;
}

/** A health check by hand; answers the connection as the check left it. */
function check(person: Person): Promise<Kernel.Auth.ManagedAuth> {
  return on.kernel.post(`/auth/connections/${person.id}/check`);
}

async function timelineOf(person: Person): Promise<Kernel.Auth.ManagedAuthTimelineEvent[]> {
  return (await on.kernel.auth.connections.timeline(person.id)).items;
}

describe('a health check by hand', () => {
  test('finds an expired session, and Holdfast logs in again with nobody there', async () => {
    const { practice } = on;
    const person = await loggedIn('alice');
    const before = await practice.counts('alice');
    expect(await practice.expire('alice')).toBe(1);

    await check(person);
    expect(await person.reauthenticated()).toMatchObject({ status: 'AUTHENTICATED', flow_status: 'SUCCESS' });
    expect((await practice.counts('alice')).passwords).toBe(before.passwords + 1);
    expect(await timelineOf(person)).toMatchObject([
      { type: 'reauth', status: 'SUCCESS', step: 'COMPLETED' },
      { type: 'health_check', status: 'NEEDS_AUTH', previous_status: 'AUTHENTICATED', error_code: 'session_expired' },
      { type: 'login', status: 'SUCCESS' },
    ]);
    // And the profile holds the new session: the next check is content.
    expect(await check(person)).toMatchObject({ status: 'AUTHENTICATED' });
    expect((await practice.counts('alice')).passwords).toBe(before.passwords + 1);
  });

  test('never tries a refused password twice; a new one is tried once', async () => {
    const { kernel, practice } = on;
    const person = await loggedIn('bob');
    const before = await practice.counts('bob');
    await practice.setPassword('bob', 'changed-at-the-site');
    await practice.expire('bob');

    await check(person);
    expect(await person.reauthenticated()).toMatchObject({
      status: 'NEEDS_AUTH',
      flow_status: 'FAILED',
      error_code: 'credentials_invalid',
      website_error: 'Incorrect username or password.',
      can_reauth: false,
      can_reauth_reason: 'requires_customer_input',
    });
    const attempts = async () => (await practice.counts('bob')).passwords - before.passwords;
    expect(await attempts()).toBe(1);

    for (const _again of [1, 2]) expect(await check(person)).toMatchObject({ status: 'NEEDS_AUTH' });
    expect((await timelineOf(person)).filter(({ type }) => type === 'reauth')).toHaveLength(1);
    // A login by hand does not try it again either: it asks.
    await person.login();
    const pause = await person.asked();
    expect(pause.fields?.find(({ type }) => type === 'password')?.reason).toBe('rejected');
    expect(await attempts()).toBe(1);
    await kernel.auth.connections.delete(person.id);
  });

  test('tries again when the credential has a new password', async () => {
    const { kernel, practice } = on;
    const person = await loggedIn('carol');
    await practice.setPassword('carol', 'changed-at-the-site');
    await practice.expire('carol');
    await check(person);
    expect(await person.reauthenticated()).toMatchObject({ flow_status: 'FAILED', can_reauth: false });
    const before = await practice.counts('carol');

    await kernel.credentials.update('of carol', { values: { password: 'changed-at-the-site' } });
    await check(person);
    await until(
      'the second re-authentication',
      () => person.read(),
      ({ status, flow_status: flow }) => status === 'AUTHENTICATED' && flow === 'SUCCESS',
      60_000,
    );
    expect(await practice.counts('carol')).toMatchObject({ passwords: before.passwords + 1, refused: before.refused });
  });

  test('leaves NEEDS_AUTH where auto_reauth is off', async () => {
    const { practice } = on;
    const person = await loggedIn('dave', { auto_reauth: false });
    const before = await practice.counts('dave');
    await practice.expire('dave');
    expect(await check(person)).toMatchObject({ status: 'NEEDS_AUTH', flow_type: 'LOGIN', flow_status: 'SUCCESS' });
    expect((await timelineOf(person)).map(({ type }) => type)).toEqual(['health_check', 'login']);
    expect(await practice.counts('dave')).toEqual(before);
  });

  test('says why a person is needed where nothing is stored', async () => {
    const { practice } = on;
    const person = await newcomer(on, { login_url: practice.page('/login'), save_credentials: false });
    await person.login();
    await person.asked();
    await person.give({ identifier: 'erin', password: practice.user('erin').password });
    await person.loggedIn();
    await practice.expire('erin');
    expect(await check(person)).toMatchObject({
      status: 'NEEDS_AUTH',
      can_reauth: false,
      can_reauth_reason: 'no_credential',
      flow_type: 'LOGIN',
    });
  });

  test('two at once are one', async () => {
    const person = await loggedIn('frank', { health_checks: false });
    const outcomes = await Promise.allSettled([check(person), check(person)]);
    expect(outcomes.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
    const refused = outcomes.find((each) => each.status === 'rejected');
    expect(refused?.reason).toMatchObject({ status: 409 });
    expect((await timelineOf(person)).filter(({ type }) => type === 'health_check')).toHaveLength(1);
    expect(await refusalOf(on.kernel.post('/auth/connections/conn_not_there/check'))).toMatchObject({ status: 404 });
  });

  test.for(['down', 'nonsense'] as const)('says nothing of a session while the site is %s', async (mode) => {
    const { practice } = on;
    const user = mode === 'down' ? 'grace' : 'heidi';
    const person = await loggedIn(user);
    const before = await practice.counts(user);
    // Expired too: whoever cannot see it must not guess.
    await practice.expire(user);
    await practice.setMode(mode);
    try {
      expect(await check(person)).toMatchObject({ status: 'AUTHENTICATED', flow_type: 'LOGIN', can_reauth: true });
    } finally {
      await practice.setMode('ok');
    }
    expect((await timelineOf(person))[0]).toMatchObject({
      type: 'health_check',
      status: 'AUTHENTICATED',
      previous_status: 'AUTHENTICATED',
      error_code: expect.stringMatching(/error/) as unknown,
    });
    expect(await practice.counts(user)).toEqual(before);
  });
});

describe('a recorded connection', () => {
  test('has a video of its login and of its check, for its project alone', async () => {
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
      // Made by a recorder inside the session, and fetched out of it before it ended.
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
