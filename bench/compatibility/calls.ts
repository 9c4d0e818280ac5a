import type Kernel from '@onkernel/sdk';
import { toFile } from '@onkernel/sdk';
import { ZipFile } from 'yazl';
import { TOKEN } from '../../test/credential-providers/stand-ins.ts';
import { programArchive } from '../../test/e2e/program-archive.ts';

/** What calls use, and pass to later calls. */
export interface CallContext {
  kernel: Kernel;
  sandboxUrl: string;
  sandboxDomain: string;
  /** URL of a stand-in for 1Password Connect. */
  secretStoreUrl: string;
  /** Ids of created resources, by kind. */
  ids: Record<string, string>;
}

type Call = (context: CallContext) => Promise<unknown>;

/** The id of a resource that an earlier call created. */
function idOf({ ids }: CallContext, kind: string): string {
  const id = ids[kind];
  if (id === undefined) throw new Error(`no ${kind}, because its operation failed`);
  return id;
}
const keep = ({ ids }: CallContext, kind: string, id: string): void => void (ids[kind] = id);
const session = (context: CallContext): string => idOf(context, 'session');

/** The first event of a stream, or null if the stream ends without one. */
async function first<Event>(stream: AsyncIterable<Event>): Promise<Event | null> {
  for await (const event of stream) return event;
  return null;
}

async function zip(entries: Record<string, string>) {
  const archive = new ZipFile();
  for (const [name, text] of Object.entries(entries)) archive.addBuffer(Buffer.from(text), name);
  archive.end();
  const pieces: Buffer[] = [];
  for await (const piece of archive.outputStream) pieces.push(Buffer.from(piece as Buffer));
  return toFile(Buffer.concat(pieces), 'archive.zip');
}

const EXTENSION = { 'manifest.json': JSON.stringify({ manifest_version: 3, name: 'empty', version: '1.0' }) };
const PROGRAM = `import Kernel from '@onkernel/sdk';
const kernel = new Kernel();
const app = kernel.app('compatibility');
app.action('echo', async (_context, payload) => payload);
app.action('stay', async (_context) => {
  await kernel.browsers.create({ headless: true });
  console.log('has a browser');
  await new Promise(() => setInterval(() => undefined, 1000));
});`;
const ECHO = { app_name: 'compatibility', action_name: 'echo', version: '1' };
const range = () => ({
  start: new Date(Date.now() - 3_600_000).toISOString(),
  end: new Date(Date.now() + 3_600_000).toISOString(),
});

/** One call of each SDK operation, ordered so that each finds the resources it needs. */
export const CALLS: Record<string, Call> = {
  'profiles.create': async (v) => keep(v, 'profile', (await v.kernel.profiles.create({ name: 'compatibility' })).id),
  'profiles.retrieve': (v) => v.kernel.profiles.retrieve(idOf(v, 'profile')),
  'profiles.update': (v) => v.kernel.profiles.update(idOf(v, 'profile'), { name: 'compatible' }),
  'profiles.list': (v) => v.kernel.profiles.list({ query: 'compat' }),
  'profiles.download': async (v) => (await v.kernel.profiles.download(idOf(v, 'profile'))).arrayBuffer(),

  'proxies.create': async (v) => {
    const config = { host: 'proxy.example.com', port: 8080 };
    keep(v, 'proxy', (await v.kernel.proxies.create({ type: 'custom', name: 'compat', config })).id ?? '');
  },
  'proxies.retrieve': (v) => v.kernel.proxies.retrieve(idOf(v, 'proxy')),
  'proxies.update': (v) => v.kernel.proxies.update(idOf(v, 'proxy'), { name: 'compatible' }),
  'proxies.list': (v) => v.kernel.proxies.list(),
  'proxies.check': (v) => v.kernel.proxies.check(idOf(v, 'proxy')),
  'proxies.delete': (v) => v.kernel.proxies.delete(idOf(v, 'proxy')),

  'extensions.upload': async (v) => {
    keep(v, 'extension', (await v.kernel.extensions.upload({ file: await zip(EXTENSION), name: 'compat' })).id);
  },
  'extensions.list': (v) => v.kernel.extensions.list(),
  'extensions.get': (v) => v.kernel.extensions.get(idOf(v, 'extension')),
  'extensions.download': async (v) => (await v.kernel.extensions.download(idOf(v, 'extension'))).arrayBuffer(),
  'extensions.downloadFromChromeStore': (v) =>
    v.kernel.extensions.downloadFromChromeStore({ url: 'https://chromewebstore.google.com/detail/x/y' }),
  'extensions.delete': (v) => v.kernel.extensions.delete(idOf(v, 'extension')),

  'browsers.create': async (v) => {
    const made = await v.kernel.browsers.create({ headless: true, timeout_seconds: 600, telemetry: { enabled: true } });
    keep(v, 'session', made.session_id);
  },
  'browsers.retrieve': (v) => v.kernel.browsers.retrieve(session(v)),
  'browsers.update': (v) => v.kernel.browsers.update(session(v), { name: 'compat' }),
  'browsers.list': (v) => v.kernel.browsers.list(),
  'browsers.curl': (v) => v.kernel.browsers.curl(session(v), { url: `${v.sandboxUrl}/` }),
  'browsers.fetch': async (v) => (await v.kernel.browsers.fetch(session(v), `${v.sandboxUrl}/`)).text(),
  'browsers.loadExtensions': async (v) =>
    v.kernel.browsers.loadExtensions(session(v), { extensions: [{ name: 'empty', zip_file: await zip(EXTENSION) }] }),
  'browsers.playwright.execute': (v) =>
    v.kernel.browsers.playwright.execute(session(v), { code: `await page.goto('${v.sandboxUrl}/'); return 1;` }),
  'browsers.telemetry.events': (v) => v.kernel.browsers.telemetry.events(session(v)),
  'browsers.telemetry.stream': async (v) => {
    const stream = await v.kernel.browsers.telemetry.stream(session(v));
    const event = first(stream);
    await v.kernel.browsers.computer.moveMouse(session(v), { x: 1, y: 1 });
    return event;
  },
  'browsers.replays.start': async (v) => {
    keep(v, 'replay', (await v.kernel.browsers.replays.start(session(v))).replay_id);
  },
  'browsers.replays.list': (v) => v.kernel.browsers.replays.list(session(v)),
  'browsers.replays.stop': (v) => v.kernel.browsers.replays.stop(idOf(v, 'replay'), { id: session(v) }),
  'browsers.replays.download': async (v) =>
    (await v.kernel.browsers.replays.download(idOf(v, 'replay'), { id: session(v) })).arrayBuffer(),

  'browsers.fs.createDirectory': (v) => v.kernel.browsers.fs.createDirectory(session(v), { path: '/tmp/a' }),
  'browsers.fs.watch.start': async (v) => {
    keep(v, 'watch', (await v.kernel.browsers.fs.watch.start(session(v), { path: '/tmp/a' })).watch_id ?? '');
  },
  'browsers.fs.writeFile': (v) => v.kernel.browsers.fs.writeFile(session(v), 'text', { path: '/tmp/a/b' }),
  'browsers.fs.watch.events': async (v) =>
    first(await v.kernel.browsers.fs.watch.events(idOf(v, 'watch'), { id: session(v) })),
  'browsers.fs.watch.stop': (v) => v.kernel.browsers.fs.watch.stop(idOf(v, 'watch'), { id: session(v) }),
  'browsers.fs.fileInfo': (v) => v.kernel.browsers.fs.fileInfo(session(v), { path: '/tmp/a/b' }),
  'browsers.fs.listFiles': (v) => v.kernel.browsers.fs.listFiles(session(v), { path: '/tmp/a' }),
  'browsers.fs.readFile': async (v) => (await v.kernel.browsers.fs.readFile(session(v), { path: '/tmp/a/b' })).text(),
  'browsers.fs.setFilePermissions': (v) =>
    v.kernel.browsers.fs.setFilePermissions(session(v), { path: '/tmp/a/b', mode: '600' }),
  'browsers.fs.move': (v) => v.kernel.browsers.fs.move(session(v), { src_path: '/tmp/a/b', dest_path: '/tmp/a/c' }),
  'browsers.fs.upload': async (v) =>
    v.kernel.browsers.fs.upload(session(v), {
      files: [{ file: await toFile(Buffer.from('x'), 'x'), dest_path: '/tmp/a/x' }],
    }),
  'browsers.fs.uploadZip': async (v) =>
    v.kernel.browsers.fs.uploadZip(session(v), { zip_file: await zip({ 'y.txt': 'y' }), dest_path: '/tmp/a/z' }),
  'browsers.fs.downloadDirZip': async (v) =>
    (await v.kernel.browsers.fs.downloadDirZip(session(v), { path: '/tmp/a' })).arrayBuffer(),
  'browsers.fs.deleteFile': (v) => v.kernel.browsers.fs.deleteFile(session(v), { path: '/tmp/a/c' }),
  'browsers.fs.deleteDirectory': (v) => v.kernel.browsers.fs.deleteDirectory(session(v), { path: '/tmp/a' }),

  'browsers.process.exec': (v) => v.kernel.browsers.process.exec(session(v), { command: 'echo one' }),
  'browsers.process.spawn': async (v) => {
    const spawned = await v.kernel.browsers.process.spawn(session(v), { command: 'cat', allocate_tty: true });
    keep(v, 'process', spawned.process_id ?? '');
  },
  'browsers.process.status': (v) => v.kernel.browsers.process.status(idOf(v, 'process'), { id: session(v) }),
  'browsers.process.resize': (v) =>
    v.kernel.browsers.process.resize(idOf(v, 'process'), { id: session(v), cols: 80, rows: 24 }),
  'browsers.process.stdin': (v) =>
    v.kernel.browsers.process.stdin(idOf(v, 'process'), { id: session(v), data_b64: 'aGkK' }),
  'browsers.process.stdoutStream': async (v) =>
    first(await v.kernel.browsers.process.stdoutStream(idOf(v, 'process'), { id: session(v) })),
  'browsers.process.kill': (v) =>
    v.kernel.browsers.process.kill(idOf(v, 'process'), { id: session(v), signal: 'KILL' }),
  'browsers.logs.stream': async (v) =>
    first(await v.kernel.browsers.logs.stream(session(v), { source: 'supervisor', supervisor_process: 'chromium' })),

  'browsers.computer.moveMouse': (v) => v.kernel.browsers.computer.moveMouse(session(v), { x: 10, y: 10 }),
  'browsers.computer.clickMouse': (v) => v.kernel.browsers.computer.clickMouse(session(v), { x: 10, y: 10 }),
  'browsers.computer.dragMouse': (v) =>
    v.kernel.browsers.computer.dragMouse(session(v), {
      path: [
        [10, 10],
        [20, 20],
      ],
    }),
  'browsers.computer.scroll': (v) => v.kernel.browsers.computer.scroll(session(v), { x: 10, y: 10, delta_y: 1 }),
  'browsers.computer.typeText': (v) => v.kernel.browsers.computer.typeText(session(v), { text: 'a' }),
  'browsers.computer.pressKey': (v) => v.kernel.browsers.computer.pressKey(session(v), { keys: ['Tab'] }),
  'browsers.computer.getMousePosition': (v) => v.kernel.browsers.computer.getMousePosition(session(v)),
  'browsers.computer.setCursorVisibility': (v) =>
    v.kernel.browsers.computer.setCursorVisibility(session(v), { hidden: true }),
  'browsers.computer.batch': (v) =>
    v.kernel.browsers.computer.batch(session(v), { actions: [{ type: 'move_mouse', move_mouse: { x: 5, y: 5 } }] }),
  'browsers.computer.captureScreenshot': async (v) =>
    (await v.kernel.browsers.computer.captureScreenshot(session(v))).arrayBuffer(),
  'browsers.computer.writeClipboard': (v) => v.kernel.browsers.computer.writeClipboard(session(v), { text: 'a' }),
  'browsers.computer.readClipboard': (v) => v.kernel.browsers.computer.readClipboard(session(v)),
  'browsers.deleteByID': (v) => v.kernel.browsers.deleteByID(session(v)),

  'browserPools.create': async (v) =>
    keep(v, 'pool', (await v.kernel.browserPools.create({ size: 1, headless: true, name: 'compat' })).id),
  'browserPools.retrieve': (v) => v.kernel.browserPools.retrieve('compat'),
  'browserPools.update': (v) => v.kernel.browserPools.update('compat', { timeout_seconds: 60 }),
  'browserPools.list': (v) => v.kernel.browserPools.list(),
  'browserPools.acquire': async (v) =>
    keep(v, 'leased', (await v.kernel.browserPools.acquire(idOf(v, 'pool'), {})).session_id),
  'browserPools.release': (v) => v.kernel.browserPools.release('compat', { session_id: idOf(v, 'leased') }),
  'browserPools.flush': (v) => v.kernel.browserPools.flush('compat'),
  'browserPools.delete': (v) => v.kernel.browserPools.delete('compat', { force: true }),

  'credentials.create': async (v) => {
    const values = { username: 'ann', password: 'wrong' };
    const totp = { totp_secret: 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP' };
    const made = await v.kernel.credentials.create({ name: 'compat', domain: v.sandboxDomain, values, ...totp });
    keep(v, 'credential', made.id);
  },
  'credentials.retrieve': (v) => v.kernel.credentials.retrieve('compat'),
  'credentials.update': (v) => v.kernel.credentials.update('compat', { name: 'compatible' }),
  'credentials.list': (v) => v.kernel.credentials.list(),
  'credentials.totpCode': (v) => v.kernel.credentials.totpCode('compatible'),

  'auth.connections.create': async (v) => {
    const made = await v.kernel.auth.connections.create({
      ...{ profile_name: 'compatible', domain: v.sandboxDomain, login_url: `${v.sandboxUrl}/login` },
    });
    keep(v, 'connection', made.id);
  },
  'auth.connections.retrieve': (v) => v.kernel.auth.connections.retrieve(idOf(v, 'connection')),
  'auth.connections.update': (v) =>
    v.kernel.auth.connections.update(idOf(v, 'connection'), { health_check_interval: 7200 }),
  'auth.connections.list': (v) => v.kernel.auth.connections.list(),
  'auth.connections.login': (v) => v.kernel.auth.connections.login(idOf(v, 'connection')),
  'auth.connections.follow': async (v) => {
    for await (const event of await v.kernel.auth.connections.follow(idOf(v, 'connection'))) {
      if (event.event === 'managed_auth_state' && event.flow_step === 'AWAITING_INPUT') return;
      if (event.event === 'error') throw new Error(event.error.message);
    }
    throw new Error('the login did not ask for input');
  },
  'auth.connections.submit': async (v) => {
    const { discovered_fields: fields } = await v.kernel.auth.connections.retrieve(idOf(v, 'connection'));
    const values = Object.fromEntries((fields ?? []).map(({ name }) => [name, 'x']));
    await v.kernel.auth.connections.submit(idOf(v, 'connection'), { fields: values });
  },
  'auth.connections.timeline': (v) => v.kernel.auth.connections.timeline(idOf(v, 'connection')),
  'auth.connections.delete': (v) => v.kernel.auth.connections.delete(idOf(v, 'connection')),
  'credentialProviders.create': async (v) => {
    const address = { address: v.secretStoreUrl };
    const body = { name: 'compat', provider_type: 'onepassword' as const, token: TOKEN, ...address };
    keep(v, 'provider', (await v.kernel.credentialProviders.create(body)).id);
  },
  'credentialProviders.retrieve': (v) => v.kernel.credentialProviders.retrieve(idOf(v, 'provider')),
  'credentialProviders.update': (v) => v.kernel.credentialProviders.update(idOf(v, 'provider'), { name: 'compatible' }),
  'credentialProviders.list': (v) => v.kernel.credentialProviders.list(),
  'credentialProviders.test': async (v) => {
    const { success, error } = await v.kernel.credentialProviders.test(idOf(v, 'provider'));
    if (!success) throw new Error(error);
  },
  'credentialProviders.listItems': (v) => v.kernel.credentialProviders.listItems(idOf(v, 'provider')),
  'credentialProviders.delete': (v) => v.kernel.credentialProviders.delete(idOf(v, 'provider')),
  'credentials.delete': (v) => v.kernel.credentials.delete('compatible'),
  'profiles.delete': (v) => v.kernel.profiles.delete(idOf(v, 'profile')),

  'projects.create': async (v) => keep(v, 'project', (await v.kernel.projects.create({ name: 'compat' })).id),
  'projects.retrieve': (v) => v.kernel.projects.retrieve(idOf(v, 'project')),
  'projects.update': (v) => v.kernel.projects.update(idOf(v, 'project'), { name: 'compatible' }),
  'projects.list': (v) => v.kernel.projects.list(),
  'projects.limits.retrieve': (v) => v.kernel.projects.limits.retrieve(idOf(v, 'project')),
  'projects.limits.update': (v) => v.kernel.projects.limits.update(idOf(v, 'project'), { max_concurrent_sessions: 1 }),
  'projects.delete': (v) => v.kernel.projects.delete(idOf(v, 'project')),
  'organization.limits.retrieve': (v) => v.kernel.organization.limits.retrieve(),
  'organization.limits.update': (v) =>
    v.kernel.organization.limits.update({ default_project_max_concurrent_sessions: 0 }),

  'apiKeys.create': async (v) => keep(v, 'key', (await v.kernel.apiKeys.create({ name: 'compat' })).id),
  'apiKeys.retrieve': (v) => v.kernel.apiKeys.retrieve(idOf(v, 'key')),
  'apiKeys.update': (v) => v.kernel.apiKeys.update(idOf(v, 'key'), { name: 'compatible' }),
  'apiKeys.list': (v) => v.kernel.apiKeys.list(),
  'apiKeys.rotate': (v) => v.kernel.apiKeys.rotate(idOf(v, 'key')),
  'apiKeys.delete': (v) => v.kernel.apiKeys.delete(idOf(v, 'key')),
  'auditLogs.list': (v) => v.kernel.auditLogs.list(range()),
  'auditLogs.exportChunk': async (v) => (await v.kernel.auditLogs.exportChunk(range())).arrayBuffer(),
  'auditLogs.download': (v) => v.kernel.auditLogs.download(range(), { write: () => undefined }),

  'deployments.create': async (v) => {
    const file = await toFile(await programArchive({ 'index.mjs': PROGRAM }), 'program.zip');
    const made = await v.kernel.deployments.create({ file, entrypoint_rel_path: 'index.mjs', version: '1' });
    keep(v, 'deployment', made.id);
  },
  'deployments.follow': async (v) => {
    for await (const event of await v.kernel.deployments.follow(idOf(v, 'deployment'))) {
      if (event.event === 'error') throw new Error(event.error.message);
    }
  },
  'deployments.retrieve': async (v) => {
    const { status, status_reason: reason } = await v.kernel.deployments.retrieve(idOf(v, 'deployment'));
    if (status !== 'running') throw new Error(`${status}: ${reason ?? ''}`);
  },
  'deployments.list': (v) => v.kernel.deployments.list(),
  'apps.list': (v) => v.kernel.apps.list(),
  'invocations.create': async (v) => {
    const { status } = await v.kernel.invocations.create({ ...ECHO, payload: '"hello"' });
    if (status !== 'succeeded') throw new Error(status);
    const staying = await v.kernel.invocations.create({ ...ECHO, action_name: 'stay', async: true });
    keep(v, 'invocation', staying.id);
  },
  'invocations.follow': async (v) => {
    for await (const event of await v.kernel.invocations.follow(idOf(v, 'invocation'))) {
      if (event.event === 'log' && event.message === 'has a browser') return;
    }
    throw new Error('the invocation ended');
  },
  'invocations.retrieve': (v) => v.kernel.invocations.retrieve(idOf(v, 'invocation')),
  'invocations.list': (v) => v.kernel.invocations.list({ app_name: 'compatibility' }),
  'invocations.listBrowsers': async (v) => {
    const { browsers } = await v.kernel.invocations.listBrowsers(idOf(v, 'invocation'));
    if (browsers.length !== 1) throw new Error(`${String(browsers.length)} browsers`);
  },
  'invocations.deleteBrowsers': (v) => v.kernel.invocations.deleteBrowsers(idOf(v, 'invocation')),
  'invocations.update': (v) => v.kernel.invocations.update(idOf(v, 'invocation'), { status: 'failed' }),
  'deployments.delete': (v) => v.kernel.deployments.delete(idOf(v, 'deployment')),
};
