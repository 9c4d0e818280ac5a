import { createServer } from 'node:net';
import { join } from 'node:path';
import { Connection } from '@temporalio/client';
import { SEARCH_ATTRIBUTES } from '../client/search-attributes.ts';
import { CODEC_PATH } from '../workers/data-converter/codec-server.ts';
import type { ChildSpec } from './child-process.ts';
import type { Settings } from './settings.ts';
import { SetupError } from './setup/setup-error.ts';
import { SUPERVISED_VARIABLE } from './supervision.ts';

/** Programs that the set-up found; undefined when that part runs elsewhere. */
export interface Programs {
  temporal: string | undefined;
  chromium: string | undefined;
  /** The store's server; undefined when DATABASE_URL leads to another. */
  store: ChildSpec | undefined;
}

/** A port that a start needs, and for what. */
export interface NeededPort {
  port: number;
  host: string;
  /** `the API`. */
  use: string;
  /** How the port follows from the settings: `HOLDFAST_PORT + 1`. */
  setting: string;
}

/** Namespace that the dev server starts with. */
const NAMESPACE = 'default';
/** Stages: what stores things first, then what works on it, then what answers callers. Stopping goes backwards. */
const STAGE = { storage: 0, work: 1, front: 2 } as const;

const program = join(import.meta.dirname, 'cli.js');

/** Ports that `npm start` will listen on with these settings. */
export function neededPorts(settings: Settings): NeededPort[] {
  const { ports, host } = settings;
  const local = '127.0.0.1';
  return [
    { port: ports.api, host, use: 'the API', setting: 'HOLDFAST_PORT' },
    ...(settings.sandbox ? [{ port: ports.sandbox, host, use: 'the sandbox site', setting: 'HOLDFAST_PORT + 1' }] : []),
    ...(settings.browserBaseUrl === undefined ? standaloneBrowserPorts(settings) : []),
    ...(settings.codec ? [{ port: ports.codec, host, use: 'the codec server', setting: 'HOLDFAST_PORT + 6' }] : []),
    ...(settings.externalTemporal
      ? []
      : [
          { port: ports.temporal, host: local, use: 'Temporal', setting: 'HOLDFAST_PORT + 4' },
          { port: ports.temporalUi, host: local, use: "Temporal's UI", setting: 'HOLDFAST_PORT + 5' },
        ]),
  ];
}

/** Ports that the browser service listens on with these settings. */
export function standaloneBrowserPorts({ ports, host }: Settings): NeededPort[] {
  return [{ port: ports.browser, host, use: 'the browser service', setting: 'HOLDFAST_PORT + 2' }];
}

/** Throws a {@link SetupError} that names every needed port on which something listens already. */
export async function checkPorts(needed: readonly NeededPort[]): Promise<void> {
  const taken: string[] = [];
  for (const each of needed) {
    const fault = await tryListen(each.port, each.host);
    if (fault === 'EADDRINUSE') taken.push(`port ${each.port} (${each.setting}, ${each.use}) is taken`);
    else if (fault === 'EACCES') taken.push(`port ${each.port} (${each.setting}, ${each.use}) needs more rights`);
    else if (fault !== undefined) taken.push(`${each.host}:${each.port} (${each.use}) cannot be listened on: ${fault}`);
  }
  if (taken.length === 0) return;
  throw new SetupError(
    `Cannot start: ${taken.join('; ')}; stop what listens there, or set HOLDFAST_PORT to a number with five free ports after it`,
  );
}

function tryListen(port: number, host: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', (error) => {
      resolve('code' in error && typeof error.code === 'string' ? error.code : error.message);
    });
    server.listen({ port, host, exclusive: true }, () => {
      server.close(() => {
        resolve(undefined);
      });
    });
  });
}

/** The processes of `npm start`, in the order in which they depend on each other. */
export function planProcesses(
  settings: Settings,
  programs: Programs,
  env: NodeJS.ProcessEnv = process.env,
): ChildSpec[] {
  const role = roles(environment(settings, programs.chromium, env));
  const specs: ChildSpec[] = [];
  if (programs.temporal !== undefined) specs.push(temporalServer(settings, programs.temporal, env));
  if (programs.store !== undefined) specs.push(programs.store);
  if (settings.sandbox) specs.push(role('sandbox', STAGE.work));
  if (settings.browserBaseUrl === undefined) specs.push(role('browser', STAGE.work));
  specs.push(role('worker', STAGE.front), role('api', STAGE.front));
  if (settings.codec) specs.push(role('codec', STAGE.front));
  return specs;
}

/** The processes of a browser service that nothing else of Holdfast runs beside. */
export function planStandaloneBrowser(
  settings: Settings,
  chromium: string,
  store: ChildSpec,
  env: NodeJS.ProcessEnv = process.env,
): ChildSpec[] {
  const role = roles(environment({ ...settings, sandbox: false }, chromium, env));
  return [store, role('browser', STAGE.work, 'standalone-browser')];
}

/** Makes a part of ours: its name, when it starts, and its command, which is named like it unless told otherwise. */
function roles(env: NodeJS.ProcessEnv): (name: string, stage: number, command?: string) => ChildSpec {
  return (name, stage, command = name) => ({
    name,
    kind: 'role',
    program: process.execPath,
    args: [program, command],
    env,
    stage,
    readyWithinMs: 150_000,
    stopWithinMs: 10_000,
  });
}

/** What the roles see: our settings as they are, and what the set-up found out. They parse the same variables again. */
function environment(settings: Settings, chromium: string | undefined, env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const sandboxHosts = [`localhost:${settings.ports.sandbox}`, `127.0.0.1:${settings.ports.sandbox}`];
  const hosts = [settings.allowPrivateHosts, ...(settings.sandbox ? sandboxHosts : [])].filter((host) => host !== '');
  return {
    ...env,
    [SUPERVISED_VARIABLE]: '1',
    HOLDFAST_DATA_DIR: settings.dataDir,
    HOLDFAST_ALLOW_PRIVATE_HOSTS: hosts.join(','),
    ...(chromium === undefined ? {} : { CHROMIUM_PATH: chromium }),
  };
}

function temporalServer(settings: Settings, program: string, env: NodeJS.ProcessEnv): ChildSpec {
  const address = `127.0.0.1:${settings.ports.temporal}`;
  return {
    name: 'temporal',
    kind: 'foreign',
    program,
    args: [
      ...['server', 'start-dev', '--ip', '127.0.0.1', '--port', String(settings.ports.temporal)],
      ...['--ui-port', String(settings.ports.temporalUi), '--namespace', NAMESPACE],
      ...SEARCH_ATTRIBUTES.flatMap(({ name }) => ['--search-attribute', `${name}=Keyword`]),
      ...(settings.codec ? ['--ui-codec-endpoint', `http://localhost:${settings.ports.codec}${CODEC_PATH}`] : []),
      ...['--db-filename', join(settings.dataDir, 'temporal.db'), '--log-level', 'error'],
    ],
    env,
    probe: () => answers(address),
    stage: STAGE.storage,
    readyWithinMs: 120_000,
    stopWithinMs: 10_000,
  };
}

/** True when a Temporal server at `address` knows our namespace. */
async function answers(address: string): Promise<boolean> {
  const connection = await Connection.connect({ address, connectTimeout: 2_000 });
  try {
    await connection.workflowService.describeNamespace({ namespace: NAMESPACE });
    return true;
  } finally {
    await connection.close();
  }
}
