import Kernel, { AuthenticationError, toFile } from '@onkernel/sdk';
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { endInvocationBrowsers } from '../../browser-client/programs.ts';
import { createBrowserService } from '../../browser-client/service.ts';
import { reviveApps } from '../../start/revivers.ts';
import { createAppsClient } from '../../client/apps-client.ts';
import { startInstallation, type Installation } from './installation.ts';
import { startPackageRegistry, type PackageRegistry } from './package-registry.ts';
import { programArchive } from './program-archive.ts';
import { until } from './until.ts';

let on: Installation;
let registry: PackageRegistry;
beforeAll(async () => {
  registry = await startPackageRegistry('greetings', `export default (name) => 'hello ' + name;`);
  on = await startInstallation({ allowHosts: [registry.host] });
});
afterAll(async () => {
  await on.close();
  await registry.close();
});

const PROGRAM = `
import { get } from 'node:http';
import Kernel from '@onkernel/sdk';
const kernel = new Kernel();
const app = kernel.app('demo');
app.action('greet', async (context, payload) => {
  console.log('greeting ' + payload.name);
  return { greeting: 'hello ' + payload.name, invocation: context.invocation_id, secret: process.env.SECRET };
});
app.action('fail', async (context) => { throw new Error('as it was told'); });
app.action('stay', async (context) => {
  const browser = await kernel.browsers.create({ headless: true });
  console.log(JSON.stringify({ key: process.env.KERNEL_API_KEY, browser: browser.session_id }));
  const headers = { connection: 'upgrade', upgrade: 'websocket', 'sec-websocket-version': '13', 'sec-websocket-key': 'aG9sZGZhc3QtaG9sZGZhc3Q=' };
  await new Promise((resolve, reject) => {
    get(browser.cdp_ws_url.replace('ws:', 'http:'), { headers }).on('upgrade', resolve).on('error', reject);
  });
  console.log('connected');
  await new Promise(() => setInterval(() => undefined, 1000));
});
app.action('borrow', async (context, payload) => {
  const { session_id } = await kernel.browserPools.acquire(payload.pool, {});
  console.log(session_id);
  await new Promise(() => setInterval(() => undefined, 1000));
});
app.action('exhaust', async (context) => {
  const kept = [];
  for (;;) kept.push(new Array(1e7).fill(1.5));
});
app.action('shout', async (context) => 'x'.repeat(1024 * 1024));
app.action('reach', async (context) => ({
  private: await fetch('http://10.0.0.1/').then(() => 'reached', () => 'refused'),
  api: (await fetch(process.env.KERNEL_BASE_URL + '/health')).status,
}));
`;

async function deploy(files: Record<string, string>, more: Partial<Kernel.DeploymentCreateParams> = {}) {
  const { kernel } = on;
  const file = await toFile(await programArchive(files), 'program.zip');
  const { id } = await kernel.deployments.create({ entrypoint_rel_path: 'index.mjs', file, ...more });
  const events = [];
  for await (const event of await kernel.deployments.follow(id)) events.push(event);
  return { id, events, deployment: await kernel.deployments.retrieve(id) };
}

function invoke(action_name: string, payload?: unknown, app_name = 'demo'): Promise<Kernel.InvocationCreateResponse> {
  const body = { app_name, action_name, version: 'latest' };
  return on.kernel.invocations.create({
    ...body,
    ...(payload === undefined ? {} : { payload: JSON.stringify(payload) }),
  });
}

describe('a program', () => {
  it('is deployed, and its action runs', async () => {
    const { kernel } = on;
    const { id, events, deployment } = await deploy({ 'index.mjs': PROGRAM }, { env_vars: { SECRET: 'its own' } });
    expect(deployment).toMatchObject({ status: 'running', env_vars: { SECRET: '' }, source_type: 'file' });
    expect(events.at(-2)).toMatchObject({ event: 'app_version_summary', app_name: 'demo', version: 'latest' });
    expect(events.at(-1)).toMatchObject({ event: 'deployment_state', deployment: { id, status: 'running' } });
    const [version] = (await kernel.apps.list({ app_name: 'demo' })).items;
    expect(version).toMatchObject({ deployment: id, env_vars: { SECRET: '' }, region: 'aws.us-east-1a' });

    const made = await invoke('greet', { name: 'world' });
    expect(made).toMatchObject({ status: 'succeeded' });
    const output = { greeting: 'hello world', invocation: made.id, secret: 'its own' };
    expect(JSON.parse(made.output ?? '')).toEqual(output);
    expect(await kernel.invocations.retrieve(made.id)).toMatchObject({ payload: '{"name":"world"}', app_name: 'demo' });

    // The stream can be read again from the start, and from any event.
    const all = await eventsOf(made.id);
    expect(all.map(({ event }) => event)).toEqual(['invocation_state', 'invocation_state', 'log', 'invocation_state']);
    expect(await eventsOf(made.id, 2)).toEqual(all.slice(2));
    expect(all[2]).toMatchObject({ message: 'greeting world' });
  });

  it('fails with its own message, on too much output, and out of memory', async () => {
    const [failed, shouted, exhausted] = await Promise.all([invoke('fail'), invoke('shout'), invoke('exhaust')]);
    expect(failed).toMatchObject({ status: 'failed', status_reason: 'Error: as it was told' });
    expect(shouted.status_reason).toContain('exceeds');
    expect(exhausted.status_reason).toContain('out of memory');
  });

  it('reaches only the API and public addresses', async () => {
    const { output = '' } = await invoke('reach');
    expect(JSON.parse(output)).toEqual({ private: 'refused', api: 200 });
  });

  it('is stopped along with its browsers and its key', async () => {
    const { kernel, baseUrl } = on;
    const { id, key, browser } = await staying();
    const { browsers } = await kernel.invocations.listBrowsers(id);
    expect(browsers.map(({ session_id }) => session_id)).toEqual([browser]);
    const own = new Kernel({ apiKey: key, baseURL: baseUrl });
    await own.browsers.retrieve(browser);
    await expect(own.post('/org/api_keys', { body: { name: 'to stay' } })).rejects.toThrow('may not create API keys');
    for await (const { id: listed } of kernel.apiKeys.list()) expect(listed).not.toBe(key);

    const ended = await kernel.invocations.update(id, { status: 'failed' });
    expect(ended).toMatchObject({ status: 'failed', status_reason: 'The invocation was ended' });
    await until(
      'the end of its browsers',
      () => kernel.invocations.listBrowsers(id),
      (left) => left.browsers.length === 0,
    );
    await expect(own.browsers.list()).rejects.toThrow(AuthenticationError);
  });

  it('returns its browser to the pool, which replaces it', async () => {
    const { kernel } = on;
    const pool = await kernel.browserPools.create({
      name: 'lent',
      size: 1,
      headless: true,
      fill_rate_per_minute: 6000,
    });
    const { id } = await kernel.invocations.create({
      ...{ app_name: 'demo', action_name: 'borrow', version: 'latest', async: true },
      payload: JSON.stringify({ pool: 'lent' }),
    });
    const [borrowed] = await until(
      'its browser',
      async () => (await kernel.invocations.listBrowsers(id)).browsers,
      (browsers) => browsers.length > 0,
    );
    expect(borrowed?.pool).toEqual({ id: pool.id, name: 'lent' });
    expect(await kernel.browserPools.retrieve('lent')).toMatchObject({ acquired_count: 1, available_count: 0 });
    await expect(kernel.browserPools.delete('lent')).rejects.toThrow('1 browsers of the pool are in use');
    await kernel.invocations.update(id, { status: 'failed' });
    await until(
      'another browser in the pool',
      () => kernel.browserPools.retrieve('lent'),
      ({ acquired_count, available_count }) => acquired_count === 0 && available_count === 1,
    );
    await expect(kernel.browsers.retrieve(borrowed?.session_id ?? '')).rejects.toThrow('released to its pool');

    // Browsers acquired outside of programs stay with their holder.
    const own = await kernel.browserPools.acquire('lent', { name: 'held' });
    expect((await kernel.invocations.listBrowsers(id)).browsers).toEqual([]);
    expect(await kernel.browsers.retrieve('held')).toMatchObject({ session_id: own.session_id });
    await kernel.browserPools.release('lent', { session_id: own.session_id });
    await kernel.browserPools.delete('lent', { force: true });
    await expect(kernel.browserPools.acquire('lent', {})).rejects.toThrow('Browser pool not found');
  });

  it('ends with a reason, its browsers and its key if its workflow is terminated', async () => {
    const { kernel, temporal, store, browserService, baseUrl } = on;
    const { id, key } = await staying();
    await temporal.client.workflow.getHandle(`invocation-${id}`).terminate();
    const service = createBrowserService(browserService);
    const apps = createAppsClient({ temporal: temporal.client });
    const endBrowsers = (project: string, of: string) => endInvocationBrowsers(service, project, of);
    await reviveApps({ store, apps, endBrowsers }, new Date(Date.now() + 60_000));
    await service.close();
    const reason = 'The workflow of the invocation was terminated';
    expect(await kernel.invocations.retrieve(id)).toMatchObject({ status: 'failed', status_reason: reason });
    expect((await kernel.invocations.listBrowsers(id)).browsers).toEqual([]);
    await expect(new Kernel({ apiKey: key, baseURL: baseUrl }).browsers.list()).rejects.toThrow(AuthenticationError);
  });
});

/** Starts an action that hangs, and waits until it has connected to its browser. */
async function staying(): Promise<{ id: string; key: string; browser: string }> {
  const { kernel } = on;
  const body = { app_name: 'demo', action_name: 'stay', version: 'latest', async: true };
  const { id, status } = await kernel.invocations.create(body);
  expect(status).toBe('queued');
  const said: string[] = [];
  for await (const event of await kernel.invocations.follow(id)) {
    if (event.event === 'log') said.push(event.message);
    if (said.includes('connected')) break;
    expect(event, said.join('\n')).not.toMatchObject({ invocation: { status: 'failed' } });
  }
  return { id, ...(JSON.parse(said[0] ?? '') as { key: string; browser: string }) };
}

describe('a deployment', () => {
  it('installs missing dependencies and compiles TypeScript', async () => {
    const { deployment, events } = await deploy(
      {
        'package.json': JSON.stringify({ type: 'module', dependencies: { '@onkernel/sdk': '*', greetings: '^1.0.0' } }),
        '.npmrc': `registry=http://${registry.host}/`,
        'src/index.ts': `
          import Kernel, { type KernelContext } from '@onkernel/sdk';
          import greet from 'greetings';
          import { NAME } from './name';
          interface Wish { loud?: boolean; times: number }
          new Kernel().app('typed').action('greet', async (context: KernelContext, payload?: Wish): Promise<{ said: string }> => ({
            said: greet(NAME).repeat(payload?.times ?? 1),
          }));`,
        'src/name.ts': `export const NAME: string = 'types';`,
      },
      { entrypoint_rel_path: 'src/index.ts' },
    );
    expect(deployment, JSON.stringify(events)).toMatchObject({ status: 'running' });
    const [version] = (await on.kernel.apps.list({ app_name: 'typed' })).items;
    expect(version?.actions[0]?.input_schema).toMatchObject({ required: ['times'] });
    expect(await invoke('greet', { times: 2 }, 'typed')).toMatchObject({ output: '{"said":"hello typeshello types"}' });
  });

  it.each([
    ['an unreachable registry', { '.npmrc': 'registry=http://127.0.0.1:1/' }, /registry cannot be reached/],
    ['a missing file', { 'other.mjs': '' }, /the archive has no such file/],
    ['a program that cannot be loaded', { 'index.mjs': 'missing()' }, /ReferenceError: missing is not defined/],
    ['a program without an app', { 'index.mjs': `import '@onkernel/sdk'` }, /The program has no app/],
  ])('fails for %s', async (_, files, reason) => {
    const manifest = { 'package.json': JSON.stringify({ dependencies: { nowhere: '1' } }) };
    const { deployment } = await deploy('.npmrc' in files ? { 'index.mjs': PROGRAM, ...manifest, ...files } : files);
    expect(deployment.status).toBe('failed');
    expect(deployment.status_reason).toMatch(reason);
  });

  it('replaces an existing version only with force', async () => {
    const { kernel } = on;
    const files = { 'index.mjs': PROGRAM.replace('demo', 'versioned') };
    const first = await deploy(files, { version: '1' });
    const second = await deploy(files, { version: '1' });
    expect(second.deployment.status_reason).toContain('versioned@1 is already deployed');
    const forced = await deploy(files, { version: '1', force: true });
    expect((await kernel.deployments.retrieve(first.id)).status).toBe('stopped');
    expect((await kernel.deployments.list({ app_name: 'versioned' })).items.map(({ id }) => id)).toEqual([forced.id]);
    await kernel.deployments.delete(forced.id);
    expect((await kernel.apps.list({ app_name: 'versioned' })).items).toEqual([]);
    await expect(invoke('greet', {}, 'versioned')).rejects.toThrow('No app with this name');
  });
});

it('runs the example, which logs a profile in once and reads with it', async () => {
  const { practice } = on;
  const { username, password } = practice.user('alice');
  const source = new URL('../../docs/examples/account-reader/index.ts', import.meta.url);
  const { deployment } = await deploy(
    { 'index.ts': readFileSync(source, 'utf8') },
    {
      entrypoint_rel_path: 'index.ts',
      env_vars: { SITE: practice.domain, LOGIN_URL: practice.page('/login'), USERNAME: username, PASSWORD: password },
    },
  );
  expect(deployment.status).toBe('running');
  expect(await invoke('login', undefined, 'account-reader')).toMatchObject({ output: '{"status":"AUTHENTICATED"}' });
  for (let hour = 0; hour < 2; hour += 1) {
    const read = await invoke('read', { url: practice.page('/account'), selector: '#who' }, 'account-reader');
    expect(read).toMatchObject({ status: 'succeeded', output: JSON.stringify({ text: username }) });
  }
});

/** The events of a finished invocation's stream. */
async function eventsOf(id: string, after?: number): Promise<Record<string, unknown>[]> {
  const answer = await fetch(`${on.baseUrl}/invocations/${id}/events`, {
    headers: {
      authorization: `Bearer ${on.apiKey}`,
      ...(after === undefined ? {} : { 'last-event-id': String(after) }),
    },
  });
  const data = (await answer.text()).matchAll(/^data: (.*)$/gm);
  return [...data].map(([, json = '']) => JSON.parse(json) as Record<string, unknown>);
}
