import Kernel from '@onkernel/sdk';
import { chromium } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { workflowIdOf } from '../../client/identity.ts';
import { startInstallation, type Installation } from './installation.ts';
import { newPerson, personFor, type FollowedState } from './person.ts';
import { apiErrorOf } from './api-error.ts';
import { until } from './until.ts';

let on: Installation;
beforeAll(async () => {
  on = await startInstallation();
});
afterAll(() => on.close());

/** The account page as a browser with that profile shows it; null if it redirects to the login. */
async function accountShown(profile: string, sites: string[]): Promise<(string | null)[]> {
  const { kernel } = on;
  const session = await kernel.browsers.create({ headless: true, profile: { name: profile } });
  const browser = await chromium.connectOverCDP(session.cdp_ws_url);
  try {
    const page = browser.contexts()[0]?.pages()[0] ?? (await browser.newPage());
    const shown: (string | null)[] = [];
    for (const site of sites) {
      await page.goto(`${site}/account`);
      const who = page.locator('#who');
      shown.push((await who.count()) === 0 ? null : await who.textContent());
    }
    return shown;
  } finally {
    await browser.close();
    await kernel.browsers.deleteByID(session.session_id);
  }
}

describe('the event stream', () => {
  test('sends every state in order to all listeners and ends with the flow, after which the profile is logged in', async () => {
    const { kernel, practice } = on;
    const person = await newPerson(on, { login_url: practice.page('/login') });
    await person.login();
    const listening = [person.followToEnd(), person.followToEnd()];
    await person.waitForInput();
    await person.answer({ identifier: 'alice', password: 'not-her-password' });
    await person.waitForInput();
    await person.answer({ identifier: 'alice', password: practice.user('alice').password });
    for (const states of await Promise.all(listening)) {
      expect(stepsOf(states)).toEqual([
        'DISCOVERING',
        'AWAITING_INPUT',
        'SUBMITTING',
        'AWAITING_INPUT',
        'SUBMITTING',
        'COMPLETED',
      ]);
      const [first, second] = states.filter(({ flow_step: step }) => step === 'AWAITING_INPUT');
      expect(first).toMatchObject({ flow_type: 'LOGIN', fields: [{ reason: 'missing' }, { reason: 'missing' }] });
      expect(second?.website_error).toBe('Incorrect username or password.');
      expect(states.at(-1)).toMatchObject({ flow_status: 'SUCCESS', post_login_url: practice.page('/account') });
      expect(states.slice(0, -1).every(({ flow_status: status }) => status === 'IN_PROGRESS')).toBe(true);
    }
    // Late listeners get the final state.
    expect((await person.followToEnd()).at(-1)).toMatchObject({ flow_status: 'SUCCESS' });
    const late = kernel.auth.connections.follow('conn_that_is_not_there');
    expect(await apiErrorOf(late)).toMatchObject({ status: 404, code: 'not_found' });

    expect(await accountShown((await person.read()).profile_name, [practice.url])).toEqual(['alice']);
    await kernel.profiles.create({ name: 'somebody-else' });
    expect(await accountShown('somebody-else', [practice.url])).toEqual([null]);
    // Without a flow the stream ends at once.
    const before = await practice.counts('alice');
    await person.login();
    const again = await person.followToEnd();
    expect(stepsOf(again)).toEqual(['DISCOVERING', 'COMPLETED']);
    expect(again.at(-1)?.flow_status).toBe('SUCCESS');
    expect(await practice.counts('alice')).toEqual(before);
  });
});

describe('connections', () => {
  test('are created once by fifty simultaneous requests', async () => {
    const { kernel, practice, temporal } = on;
    const place = { profile_name: 'crowd', domain: practice.domain };
    const tries = await Promise.all(
      Array.from({ length: 50 }, async () => {
        const answer = await fetch(`${on.baseUrl}/auth/connections`, {
          method: 'POST',
          headers: { authorization: `Bearer ${on.apiKey}`, 'content-type': 'application/json' },
          body: JSON.stringify(place),
        });
        return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
      }),
    );
    const made = tries.filter(({ status }) => status === 201);
    expect(made).toHaveLength(1);
    const id = String(made[0]?.body.id);
    for (const { status, body } of tries.filter((each) => each.status !== 201)) {
      expect({ status, body }).toMatchObject({ status: 409, body: { code: 'already_exists', existing_id: id } });
    }
    const query = `WorkflowId = '${workflowIdOf(id)}'`;
    expect((await temporal.client.workflow.count(query)).count).toBe(1);
    const again = kernel.auth.connections.create(place);
    expect(await apiErrorOf(again)).toMatchObject({ status: 409, body: { existing_id: id } });
  });

  test('are listed by page and by filter', async () => {
    const { connections } = on.kernel.auth;
    const ids: string[] = [];
    for (const index of [1, 2, 3, 4, 5]) {
      const domain = `listed-${index}.example.com`;
      ids.push((await connections.create({ profile_name: index < 3 ? 'first two' : 'others', domain })).id);
    }
    const all: string[] = [];
    for await (const { id, domain } of connections.list({ limit: 2 })) if (domain.startsWith('listed-')) all.push(id);
    expect(all.toSorted()).toEqual(ids.toSorted());
    const idsOf = async (query: Kernel.Auth.ConnectionListParams) =>
      (await connections.list(query)).getPaginatedItems().map(({ id }) => id);
    expect((await idsOf({ profile_name: 'first two' })).toSorted()).toEqual(ids.slice(0, 2).toSorted());
    expect(await idsOf({ domain: 'listed-4.example.com' })).toEqual([ids[3]]);
    expect(await idsOf({ query: 'listed-5' })).toEqual([ids[4]]);
    const page = await connections.list({ limit: 2 });
    expect(page.getPaginatedItems()).toHaveLength(2);
    expect(page.hasNextPage()).toBe(true);
  });

  test('are updated with the given values, and not at all by a rejected update', async () => {
    const { connections } = on.kernel.auth;
    const { id } = await connections.create({
      profile_name: 'changing',
      domain: 'changing.example.com',
      login_url: 'https://changing.example.com/in',
      allowed_domains: ['www.one.example.com'],
    });
    const changed = await connections.update(id, {
      login_url: '',
      allowed_domains: ['two.example.com'],
      auto_reauth: false,
      health_check_interval: 600,
      save_credentials: false,
    });
    const expected = {
      id,
      allowed_domains: ['two.example.com'],
      auto_reauth: false,
      health_check_interval: 600,
      save_credentials: false,
    };
    expect(changed).toMatchObject(expected);
    expect(changed.login_url).toBeUndefined();
    expect(await apiErrorOf(connections.update(id, { health_check_interval: 299 }))).toMatchObject({ status: 400 });
    const unknown: object = { domain: 'other.example.com' };
    expect(await apiErrorOf(connections.update(id, unknown))).toMatchObject({ status: 400, code: 'invalid_input' });
    expect(await connections.retrieve(id)).toMatchObject(expected);
  });

  test('start one flow for two simultaneous logins', async () => {
    const { kernel, practice } = on;
    const person = await newPerson(on, { login_url: practice.page('/login/passkey') });
    const outcomes = await Promise.allSettled([person.login(), person.login()]);
    expect(outcomes.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
    const refused = outcomes.find((each) => each.status === 'rejected');
    expect(refused?.reason).toMatchObject({ status: 409 });
    await person.waitForEnd();
    const { items } = await kernel.auth.connections.timeline(person.id, { type: 'login' });
    expect(items).toHaveLength(1);
  });

  test('are deleted during a login with workflow, browser and row, and can be created again', async () => {
    const { kernel, practice, temporal } = on;
    const person = await newPerson(on, { login_url: practice.page('/login') });
    await person.login();
    const { browser_session_id: session, profile_name } = await person.waitForInput();
    expect((await kernel.browsers.retrieve(session ?? '')).session_id).toBe(session);

    const answer = await kernel.auth.connections.delete(person.id).asResponse();
    expect(answer.status).toBe(204);
    expect(await apiErrorOf(kernel.auth.connections.retrieve(person.id))).toMatchObject({ status: 404 });
    expect(await apiErrorOf(kernel.auth.connections.delete(person.id))).toMatchObject({ status: 404 });
    const handle = temporal.client.workflow.getHandle(workflowIdOf(person.id));
    const run = () => handle.describe();
    await until('the end of the workflow', run, ({ status }) => status.name === 'COMPLETED');
    expect(await apiErrorOf(kernel.browsers.retrieve(session ?? ''))).toMatchObject({ status: 404 });

    const next = await kernel.auth.connections.create({ profile_name, domain: practice.domain });
    expect(next.id).not.toBe(person.id);
    expect(next.flow_status).toBeNull();
    await kernel.auth.connections.delete(next.id);
  });

  test('are opened to one person for one flow by the handoff code, can be checked on request, and keep a timeline, newest first', async () => {
    const { kernel, practice } = on;
    const person = await newPerson(on, { login_url: practice.page('/login'), health_checks: false });
    const { handoff_code: code } = await kernel.auth.connections.login(person.id);
    const exchange = () =>
      fetch(`${on.baseUrl}/auth/connections/${person.id}/exchange`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ code }),
      });
    const [one, two] = await Promise.all([exchange(), exchange()]);
    expect([one.status, two.status].toSorted()).toEqual([200, 410]);
    const { jwt } = (await (one.ok ? one : two).json()) as { jwt: string };
    const visitor = new Kernel({ apiKey: jwt, baseURL: on.baseUrl });
    const guest = personFor(visitor, person.id);
    await guest.waitForInput();
    expect(await apiErrorOf(visitor.auth.connections.delete(person.id))).toMatchObject({ status: 403 });
    expect(await apiErrorOf(visitor.auth.connections.list())).toMatchObject({ status: 403 });
    await guest.answer({ identifier: 'carol', password: practice.user('carol').password });
    await person.waitForSuccess();

    const checked: Kernel.Auth.ManagedAuth = await kernel.post(`/auth/connections/${person.id}/check`);
    expect(checked).toMatchObject({ id: person.id, status: 'AUTHENTICATED' });
    expect(Date.now() - Date.parse(checked.last_auth_check_at ?? '')).toBeLessThan(60_000);
    const events = await kernel.auth.connections.timeline(person.id);
    expect(events.items).toMatchObject([
      { type: 'health_check', status: 'AUTHENTICATED', previous_status: 'AUTHENTICATED' },
      { type: 'login', status: 'SUCCESS', step: 'COMPLETED' },
    ]);
    const first = await kernel.auth.connections.timeline(person.id, { limit: 1 });
    expect(first.hasNextPage()).toBe(true);
    expect((await first.getNextPage()).items).toMatchObject([{ type: 'login' }]);
    expect((await kernel.auth.connections.timeline(person.id, { type: 'reauth' })).items).toEqual([]);
  });
});

describe('profiles', () => {
  test('keep both of two connections logged in that save at the same time', async () => {
    const { kernel, practice } = on;
    // The same site under two host names, which are two sites for a browser.
    const other = practice.url.replace('localhost', '127.0.0.1');
    const people = await Promise.all(
      [practice.url, other].map(async (site) => {
        const place = { profile_name: 'two sites', domain: new URL(site).host, login_url: `${site}/login` };
        const person = personFor(kernel, (await kernel.auth.connections.create(place)).id);
        await person.login();
        await person.waitForInput();
        return person;
      }),
    );
    const users = ['heidi', 'frank'] as const;
    await Promise.all(
      people.map((person, index) => {
        const user = practice.user(users[index] ?? '');
        return person.answer({ identifier: user.username, password: user.password });
      }),
    );
    await Promise.all(people.map((person) => person.waitForSuccess()));
    expect(await accountShown('two sites', [practice.url, other])).toEqual(['heidi', 'frank']);
  });
});

/** The steps in order, without repetitions. */
function stepsOf(states: FollowedState[]): string[] {
  return states.map(({ flow_step: step }) => step).filter((step, index, all) => step !== all[index - 1]);
}
