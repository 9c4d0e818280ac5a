import { createServer } from 'node:net';
import { join } from 'node:path';
import { Connection } from '@temporalio/client';
import { SEARCH_ATTRIBUTES } from '../client/search-attributes.ts';
import { CODEC_PATH } from '../workers/data-converter/codec-server.ts';
import type { ChildSpec } from './child-process.ts';
import type { Settings } from './settings.ts';
import { SetupError } from './setup/setup-error.ts';
import { SUPERVISED_VARIABLE } from './supervision.ts';

/** Programs found by setup; undefined for external services. */
export interface Programs {
  temporal: string | undefined;
  chromium: string | undefined;
  /** The server of the store; undefined with DATABASE_URL. */
  store: ChildSpec | undefined;
}

/** A port that a start needs, and its purpose. */
export interface NeededPort {
  port: number;
  host: string;
  /** `the API`. */
  use: string;
  /** How the port derives from the settings: `HOLDFAST_PORT + 1`. */
  setting: string;
}

/** The namespace of the dev server. */
const NAMESPACE = 'default';
/** Start order: storage, then services, then what answers callers. Stopping is in reverse order. */
const STAGE = { storage: 0, work: 1, front: 2 } as const;

const program = join(import.meta.dirname, 'cli.js');

/** The ports that `npm start` listens on. */
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

/** The ports that the browser service listens on. */
export function standaloneBrowserPorts({ ports, host }: Settings): NeededPort[] {
  return [{ port: ports.browser, host, use: 'the browser service', setting: 'HOLDFAST_PORT + 2' }];
}

/** Throws a {@link SetupError} that names every port that is not available. */
export async function checkPorts(needed: readonly NeededPort[]): Promise<void> {
  const taken: string[] = [];
  for (const each of needed) {
    const fault = await tryListen(each.port, each.host);
    if (fault === 'EADDRINUSE') taken.push(`port ${each.port} (${each.setting}, ${each.use}) is taken`);
    else if (fault === 'EACCES')
      taken.push(`port ${each.port} (${each.setting}, ${each.use}) requires more privileges`);
    else if (fault !== undefined) taken.push(`${each.host}:${each.port} (${each.use}) is not available: ${fault}`);
  }
  if (taken.length === 0) return;
  throw new SetupError(
    `Cannot start: ${taken.join('; ')}; stop the processes that listen there, or set HOLDFAST_PORT to a number followed by six free ports`,
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

/** The processes of `npm start`, in the order of their dependencies. */
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

/** The processes of a standalone browser service. */
export function planStandaloneBrowser(
  settings: Settings,
  chromium: string,
  store: ChildSpec,
  env: NodeJS.ProcessEnv = process.env,
): ChildSpec[] {
  const role = roles(environment({ ...settings, sandbox: false }, chromium, env));
  return [store, role('browser', STAGE.work, 'standalone-browser')];
}

/** Creates specs of roles: name, stage, and command (the name by default). */
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

/** The environment of roles, which parse the same variables again: our own, with the results of setup. */
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
    probe: () => isTemporalReady(address),
    stage: STAGE.storage,
    readyWithinMs: 120_000,
    stopWithinMs: 10_000,
  };
}

/** True if a Temporal server at `address` has our namespace. */
async function isTemporalReady(address: string): Promise<boolean> {
  const connection = await Connection.connect({ address, connectTimeout: 2_000 });
  try {
    await connection.workflowService.describeNamespace({ namespace: NAMESPACE });
    return true;
  } finally {
    await connection.close();
  }
}
