import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Kernel from '@onkernel/sdk';
import { Secret } from 'otpauth';
import { chromium } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { z } from 'zod';
import { newPasskey } from '../setup/passkey.ts';
import { authenticatorCode } from './authenticator.ts';
import { filesBelow, findCanaries, spellings, type Canary, type Haystack } from './canary-search.ts';
import { newPerson, personFor, fieldTypes, type Person } from './person.ts';
import { createPractice, type Practice } from './practice.ts';
import { startProcessTree, type ProcessTree } from './process-tree.ts';
import { waitFor } from './until.ts';

const Exchanged = z.object({ jwt: z.string() });
const random = (bytes = 12): string => randomBytes(bytes).toString('base64url');
/** Characters that every encoding treats differently. */
const awkward = (): string => `q"u'o\\t&e<d>%+ ${random()} äß€ 密 ${random(4)}`;

/** Must be in no file and in no response. */
const secrets: Canary[] = [];
/** Returned to their owner once; must be in no file. */
const tokens: Canary[] = [];
const responses: Promise<Haystack>[] = [];
let tree: ProcessTree;
let practice: Practice;
let kernel: Kernel;

/** The size of the test. */
export interface Amount {
  /** Size of the long password before base64; every typed character is a telemetry event. */
  longPasswordBytes: number;
  /** Inspect every profile, instead of one of a login by credential and one by a person. */
  everyProfile: boolean;
}

/** Tests that logins of all kinds leave no secret in files, logs and responses. */
export function testCanaries(amount: Amount): void {
  beforeAll(async () => {
    tree = await startProcessTree({ HOLDFAST_API_KEY: random(24) });
    practice = createPractice(tree.sandboxUrl);
    kernel = new Kernel({ apiKey: tree.apiKey, baseURL: tree.baseUrl, fetch: recordingFetch });
  }, 300_000);

  afterAll(async () => {
    await tree.remove();
  }, 90_000);

  it('finds a planted secret in every encoding', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'holdfast-canary-'));
    const canary = { name: 'planted', value: awkward() };
    for (const [spelling, bytes] of Object.entries(spellings(canary.value))) {
      const file = join(folder, 'file');
      await writeFile(file, Buffer.concat([randomBytes(5), bytes, randomBytes(5)]));
      expect(findCanaries([canary], await filesBelow(folder)), spelling).not.toEqual([]);
    }
    for (const shift of [0, 1, 2]) {
      const text = Buffer.concat([randomBytes(shift), Buffer.from(`${canary.value}more`)]).toString('base64');
      expect(findCanaries([canary], [{ name: 'base64', bytes: Buffer.from(text) }])).toEqual([
        expect.stringContaining(`base64 +${shift}`),
      ]);
    }
    await rm(folder, { recursive: true });
  });

  it('leaves no secret in any file, log, response or stream', { timeout: 400_000 }, () => expectNoSecretLeft(amount));
}

async function expectNoSecretLeft({ longPasswordBytes, everyProfile }: Amount): Promise<void> {
  const visible: Canary[] = [{ name: 'domain', value: tree.sandboxDomain }];

  await createOtherSecrets();
  const logins = [byCredentials(visible), withWrongPasswords(longPasswordBytes), abortedLogin()];
  const people = (await Promise.all(logins)).flat();
  // Afterwards, because killing the worker restarts all logins.
  people.push(await withCodeAndKilledWorker());

  // Keys, and the cookies of the sessions that the profiles hold.
  token('operator key', tree.apiKey);
  const wrongKey = `hf_live_${secret('wrong key', random(24))}`;
  await fetch(`${tree.baseUrl}/auth/connections`, { headers: { authorization: `Bearer ${wrongKey}` } });
  await fetch(`${tree.baseUrl}/auth/connections?key=${encodeURIComponent(wrongKey)}`, {
    headers: { 'x-api-key': wrongKey },
  });
  const profiles = await Promise.all(people.map(async (person) => (await person.read()).profile_name));
  const inspectedProfiles = everyProfile ? profiles : [profiles.at(0) ?? '', profiles.at(-1) ?? ''];
  await Promise.all(inspectedProfiles.map(inspectProfile));
  const types = new Set<string>();
  for (const person of people) for (const type of await inspectTelemetry(person.id)) types.add(type);
  // Without these events the search would prove nothing. A long password's keys displace earlier events from the log.
  for (const type of ['interaction_key', 'network_request', 'network_response', 'page_load', 'cdp_command'])
    expect(types).toContain(type);

  visible.push(...profiles.map((value) => ({ name: value, value })));
  visible.push({ name: 'login page', value: '/login/two-step' });
  // Everything a person types is sealed, including user names.
  secrets.push({ name: 'typed address', value: practice.user('bob').email });
  await waitForSessionsToEnd();
  expect(findCanaries(secrets, await Promise.all(responses))).toEqual([]);
  await expectClean(visible, 'while it runs');
  await tree.stop();
  expect(await readdir(join(tree.dataDir, 'browsers', 'sessions')).catch(() => [])).toEqual([]);
  await expectClean(visible, 'after it has stopped');
}

/** Secrets other than login values: webhooks, code sources and an external secret store. */
async function createOtherSecrets(): Promise<void> {
  const body = { url: practice.page('/test/nowhere') };
  const hook = await kernel.post<{ id: string; secret: string }>('/webhooks', { body });
  token('webhook secret', hook.secret);
  const rotated = await kernel.post<{ secret: string }>(`/webhooks/${hook.id}/rotate_secret`);
  token('rotated webhook secret', rotated.secret);
  for (const type of ['twilio', 'mailgun']) {
    const source = { type, secret: secret(`secret of ${type}`, random(24)) };
    const { url } = await kernel.post<{ url: string }>('/code_sources', { body: source });
    const unsigned = new URLSearchParams({ To: '+15550100001', From: '+15550100002', Body: 'Code 482913' });
    expect((await recordingFetch(url, { method: 'POST', body: unsigned })).status).toBe(403);
  }
  const address = practice.url;
  const store = { name: 'bao', provider_type: 'vault', address, token: secret('token of a secret store', random(24)) };
  const { id } = await kernel.post<{ id: string }>('/org/credential_providers', { body: store });
  // The practice site is not a secret store, so the test fails.
  expect(await kernel.post(`/org/credential_providers/${id}/test`)).toMatchObject({ success: false });
}

/** Creates, updates and rejects credentials; logs in with two of them and re-authenticates one. */
async function byCredentials(visible: Canary[]): Promise<Person[]> {
  const domain = tree.sandboxDomain;
  const aliceSecret = secret('stored password', awkward());
  await practice.setPassword('alice', aliceSecret);
  // A passkey is loaded into the browser of every login, which telemetry captures.
  const passkey = newPasskey(random(), { rp_id: 'localhost' });
  secret('private key', passkey.private_key);
  secret('private key in the other alphabet', Buffer.from(passkey.private_key, 'base64url').toString('base64'));
  const values = { username: 'alice', password: secret('stored and replaced', awkward()) };
  const aliceCredential = await kernel.post<{ id: string; name: string }>('/credentials', {
    body: {
      name: `alice ${random()}`,
      domain,
      values,
      totp_secret: secret('unused TOTP secret', randomTotpSecret()),
      passkeys: [passkey],
    },
  });
  await kernel.credentials.update(aliceCredential.id, {
    values: { password: aliceSecret, pin: secret('pin', random()) },
  });
  const carolCredential = await kernel.credentials.create({
    name: `carol ${random()}`,
    domain,
    values: { username: 'carol', password: practice.user('carol').password },
    totp_secret: secret('TOTP secret', practice.user('carol').totpSecret),
  });
  visible.push({ name: 'credential', value: aliceCredential.name });
  await rejectedBodies(aliceCredential.id);
  const alice = await newPerson({ kernel, practice }, connectionTo('alice', '/login', aliceCredential.name));
  const carol = await newPerson({ kernel, practice }, connectionTo('carol', '/login/totp', carolCredential.name));
  await Promise.all([alice.login(), carol.login()]);
  await Promise.all([alice.waitForSuccess(), carol.waitForSuccess()]);
  await practice.expire('alice');
  await post(`/auth/connections/${alice.id}/check`);
  expect((await alice.waitForSuccess()).status).toBe('AUTHENTICATED');
  return [alice, carol];
}

/** Logs in with a wrong password first, then a very long one. */
async function withWrongPasswords(longBytes: number): Promise<Person[]> {
  const long = secret('long password', random(longBytes));
  const middle = long.length / 2;
  secrets.push({ name: 'part of the long password', value: long.slice(middle, middle + 64) });
  await practice.setPassword('bob', long);
  const bob = await newPerson({ kernel, practice }, connectionTo('bob', '/login/two-step'));
  await bob.login();
  const followed = bob.followToEnd();
  await bob.waitForInput();
  await bob.answer({ identifier: practice.user('bob').email });
  await bob.waitForInput();
  await bob.answer({ password: secret('wrong password', awkward()) });
  await bob.waitForInput();
  await bob.answer({ password: long });
  await bob.waitForSuccess();
  await followed;
  return [bob];
}

/** Logs in with a code by message and a token of the hosted page; the worker is killed while it types the password. */
async function withCodeAndKilledWorker(): Promise<Person> {
  const daveSecret = secret('password typed by the killed worker', awkward());
  await practice.setPassword('dave', daveSecret);
  const dave = await newPerson({ kernel, practice }, connectionTo('dave', '/login/sms'));
  const { handoff_code: handoff } = await kernel.auth.connections.login(dave.id);
  token('handoff code', handoff ?? '');
  const { jwt } = Exchanged.parse(
    await kernel.post(`/auth/connections/${dave.id}/exchange`, { body: { code: handoff } }),
  );
  token('token of the hosted page', jwt);
  const guest = personFor(
    new Kernel({ apiKey: jwt, baseURL: tree.baseUrl, fetch: recordingFetch, maxRetries: 5 }),
    dave.id,
  );
  const password = { identifier: 'dave', password: daveSecret };
  const asked = await guest.waitForInput();
  await rejectedSubmits(dave.id, asked.interaction_id);
  await guest.answer(password);
  await tree.kill('worker');
  let pause = await guest.waitForInput();
  while (!fieldTypes(pause.fields).includes('code')) {
    await guest.answer(password);
    pause = await guest.waitForInput();
  }
  await guest.answer({ code: secret('code by message', (await practice.smsCode('dave')) ?? '') });
  await guest.waitForSuccess();
  return dave;
}

/** Starts a login and deletes its connection. */
async function abortedLogin(): Promise<Person[]> {
  const frank = await newPerson({ kernel, practice }, connectionTo('frank', '/login/totp'));
  await frank.login();
  await frank.waitForInput();
  await frank.answer({ identifier: 'frank', password: practice.user('frank').password });
  await frank.waitForInput();
  await frank.answer({ totp_code: secret('code', authenticatorCode(randomTotpSecret())) });
  await frank.waitForInput();
  await frank.answer({ totp_code: secret('late code', authenticatorCode(randomTotpSecret())) });
  await kernel.auth.connections.delete(frank.id);
  return [];
}

/** Expects secrets and tokens in no file. Visible names must be in the store, which proves that the search works, but not in Temporal. */
async function expectClean(visible: Canary[], when: string): Promise<void> {
  const files = await filesBelow(tree.dataDir, (name) => name.startsWith('keys'));
  files.push({ name: 'output of npm start', bytes: Buffer.from(tree.output().replaceAll(tree.apiKey, '')) });
  expect(findCanaries([...secrets, ...tokens], files), when).toEqual([]);
  const temporal = files.filter(({ name }) => name.startsWith('temporal.db') || name.startsWith('logs'));
  expect(temporal.length, when).toBeGreaterThan(1);
  expect(findCanaries(visible, temporal), when).toEqual([]);
  const store = files.filter(({ name }) => name.startsWith('postgres'));
  const shown = findCanaries(visible, store);
  for (const { name } of visible)
    expect(
      shown.filter((hit) => hit.startsWith(`${name} (`)),
      `${name} in the store`,
    ).not.toEqual([]);
}

function secret(name: string, value: string): string {
  expect(value, name).not.toBe('');
  secrets.push({ name, value });
  return value;
}

function token(name: string, value: string): void {
  expect(value, name).not.toBe('');
  tokens.push({ name, value });
}

function randomTotpSecret(): string {
  return new Secret({ size: 20 }).base32;
}

function connectionTo(user: string, path: string, credential?: string): Partial<Kernel.Auth.ConnectionCreateParams> {
  const on = { enabled: true };
  // Captures everything that a session with typed secrets may capture, that is, all except screenshots.
  const browser = { console: on, network: on, page: on, interaction: on };
  return {
    profile_name: `profile of ${user} ${random()}`,
    login_url: practice.page(path),
    browser_telemetry: { enabled: true, browser },
    ...(credential === undefined ? {} : { credential: { name: credential } }),
  };
}

/** Records all responses with their headers, including streams. */
const recordingFetch: typeof fetch = async (input, init) => {
  const answer = await fetch(input, init);
  const copy = answer.clone();
  const headers: string[] = [];
  copy.headers.forEach((value) => headers.push(value));
  responses.push(
    copy.text().then(
      (text) => ({ name: copy.url, bytes: Buffer.from(`${headers.join('\n')}\n${text}`) }),
      () => ({ name: copy.url, bytes: Buffer.alloc(0) }),
    ),
  );
  return answer;
};

async function post(path: string, body?: string): Promise<number> {
  const answer = await recordingFetch(`${tree.baseUrl}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${tree.apiKey}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body }),
  });
  await answer.text();
  return answer.status;
}

/** Sends invalid bodies, whose content must not be returned or stored. */
async function rejectedBodies(credentialId: string): Promise<void> {
  const bodies = [
    `{"name": "x", "domain": "example.com", "values": {"password": "${secret('broken JSON', random())}"`,
    `{"values": {"password": ${JSON.stringify([secret('wrong type', awkward())])}}, "name": "x", "domain": "example.com"}`,
    JSON.stringify({ name: 'x', domain: 'example.com', values: {}, secret: secret('unknown property', awkward()) }),
    JSON.stringify({ name: 'x', domain: secret('wrong place', awkward()), values: {} }),
    JSON.stringify({ name: 'x', domain: 'example.com', values: {}, totp_secret: secret('wrong secret', awkward()) }),
    JSON.stringify({ name: 'x', domain: 'example.com', values: { password: `${secret('NUL', random())}\0` } }),
    JSON.stringify({ name: 'x', domain: 'example.com', values: { password: secret('too long', random(16_000)) } }),
    JSON.stringify({ name: 'x', domain: 'example.com', passkeys: [{ private_key: secret('no key', awkward()) }] }),
    secret('no JSON', random()),
  ];
  for (const body of bodies) {
    expect(await post('/credentials', body)).toBe(400);
    expect(await post(`/credentials/${credentialId}`, body)).toBeGreaterThanOrEqual(400);
    expect(await post('/auth/connections', body)).toBe(400);
    // Unknown members are ignored there, so add an invalid known one.
    expect(await post('/browsers', body.replace('{', '{"timeout_seconds": 1, '))).toBe(400);
  }
  expect(await post(`/credentials?value=${encodeURIComponent(secret('in the address', awkward()))}`, '{}')).toBe(400);
}

async function rejectedSubmits(connectionId: string, interactionId: string): Promise<void> {
  const submit = (body: unknown): Promise<number> =>
    post(`/auth/connections/${connectionId}/submit`, typeof body === 'string' ? body : JSON.stringify(body));
  const values = (name: string) => ({ password: secret(name, awkward()) });
  const statuses = [
    await submit({ interaction_id: 'int_unknown', field_values: values('stale answer') }),
    await submit({ interaction_id: interactionId, field_values: values('unknown field') }),
    await submit({ field_values: values('no interaction') }),
    await submit({ interaction_id: interactionId, fields: values('two forms'), mfa_option_id: 'sms' }),
    await submit({ interaction_id: interactionId, field_values: Object.values(values('list')) }),
    await submit(`{"field_values": {"password": "${secret('broken submit', random())}`),
  ];
  expect(statuses.map((status) => (status >= 400 && status < 500 ? 'rejected' : status))).toEqual(
    statuses.map(() => 'rejected'),
  );
}

/** Opens a browser with the profile, and adds its session cookie and the token of its URL to the search. */
async function inspectProfile(name: string): Promise<void> {
  const session = await kernel.browsers.create({ profile: { name } });
  token('token of a browser', new URL(session.cdp_ws_url).searchParams.get('jwt') ?? '');
  const browser = await chromium.connectOverCDP(session.cdp_ws_url);
  const cookies = (await browser.contexts()[0]?.cookies()) ?? [];
  const login = cookies.find((cookie) => cookie.name === 'sandbox_session');
  secret(`session cookie of ${name}`, login?.value ?? '');
  await browser.close();
  await kernel.browsers.deleteByID(session.session_id);
}

/** Reads the telemetry of a connection's sessions, which adds it to the recorded responses. Returns the event types. */
async function inspectTelemetry(connectionId: string): Promise<ReadonlySet<string>> {
  const types = new Set<string>();
  for await (const { browser_session_id: id } of kernel.auth.connections.timeline(connectionId)) {
    if (typeof id !== 'string') continue;
    const page = await kernel.browsers.telemetry.events(id, { limit: 100, since: '1h' }).catch(() => null);
    if (page === null) continue;
    for await (const { event } of page) types.add(event.type);
  }
  return types;
}

async function waitForSessionsToEnd(): Promise<void> {
  await waitFor(
    async () => ((await kernel.browsers.list()).getPaginatedItems().length === 0 ? true : null),
    30_000,
    'no session',
  );
}
