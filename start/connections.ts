import { join } from 'node:path';
import type { ClientConnectConfig } from '@temporalio/envconfig';
import { HoldfastError } from '../contract/errors.ts';
import { createStore } from '../store/store.ts';
import type { Store, StoreConnection } from '../store/store.ts';
import { loadMasterKeys, masterKeyFile } from './keys.ts';
import type { Keys } from './keys.ts';
import { socketDirOf } from './postgres/socket.ts';
import type { Settings } from './settings.ts';
import { SetupError } from './setup/setup-error.ts';
import { isSupervised } from './supervision.ts';

/** The data folder of the Postgres that `npm start` runs. */
export function postgresFolder(dataDir: string): string {
  return join(dataDir, 'postgres');
}

/** Pause between two tries, in milliseconds. */
const RETRY_PAUSE_MS = 500;

/** Where a role finds the database: DATABASE_URL, else the Postgres of `npm start` on the same data folder. */
export function storeConnection(settings: Pick<Settings, 'dataDir' | 'databaseUrl'>): StoreConnection {
  return settings.databaseUrl === undefined
    ? { socketDir: socketDirOf(postgresFolder(settings.dataDir)) }
    : { url: settings.databaseUrl };
}

/** Where a role finds Temporal: the TEMPORAL_* variables, else the dev server of `npm start`. */
export function temporalConnection(settings: Settings): ClientConnectConfig {
  return (
    settings.externalTemporal ?? {
      connectionOptions: { address: `127.0.0.1:${settings.ports.temporal}` },
      namespace: 'default',
    }
  );
}

/** Where a role finds the browser service: BROWSER_BASE_URL, else the one of `npm start`. */
export function browserBaseUrl(settings: Settings): string {
  return settings.browserBaseUrl ?? localBaseUrl(settings.host, settings.ports.browser);
}

/** The URL at which a process of this machine reaches one that listens on `host`. */
export function localBaseUrl(host: string, port: number): string {
  const loopback: Record<string, string> = { '0.0.0.0': '127.0.0.1', '::': '::1' };
  const address = loopback[host] ?? host;
  return `http://${address.includes(':') ? `[${address}]` : address}:${port}`;
}

/**
 * The store, its schema up to date and the default organization, project and key in it. Several processes may come at once.
 * Rejects with a {@link SetupError} when the database cannot be used.
 */
export async function openStore(settings: Settings, keys: Keys): Promise<Store> {
  const store = createStore({
    connection: storeConnection(settings),
    masterKey: keys.masterKey,
    retiredMasterKeys: keys.retiredMasterKeys,
    ...(settings.masterKeys === undefined && { reloadMasterKeys: () => loadMasterKeys(masterKeyFile(settings)) }),
    timelineKeptMs: settings.timelineDays * 24 * 60 * 60_000,
    auditKeptMs: settings.auditDays * 24 * 60 * 60_000,
    recordingsKeptMs: settings.recordingDays * 24 * 60 * 60_000,
  });
  try {
    await retrying(() => store.migrate(), serverWaitMs(), isLasting);
    await retrying(() => store.bootstrap({ plan: settings.plan, apiKey: keys.apiKey }), serverWaitMs(), isLasting);
    return store;
  } catch (error) {
    await store.close().catch(() => undefined);
    const database =
      settings.databaseUrl === undefined ? 'the store of this data folder' : 'the database at DATABASE_URL';
    const hint = settings.databaseUrl === undefined ? 'run `npm start` on it, or set DATABASE_URL' : 'correct it';
    if (isLasting(error)) throw error;
    throw new SetupError(`Cannot use ${database} (${codeOf(error)}); ${hint}`);
  }
}

/** A wrong master key, say: it has its line already, and trying again does not help. */
function isLasting(error: unknown): boolean {
  return error instanceof HoldfastError && error.code !== 'unavailable';
}

/**
 * How long a server that does not answer is waited for, in milliseconds. Under the supervisor it is known to run, so that
 * it is only slow or starting again; a person who starts a role alone wants to know soon.
 */
function serverWaitMs(): number {
  return isSupervised() ? 45_000 : 4_000;
}

/** What went wrong, in the words of the system or the database; they name no password. */
function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown fault';
  if (/connection ?refused|ECONNREFUSED/i.test(error.message)) return 'connection refused';
  if (error instanceof AggregateError && error.errors[0] instanceof Error) return codeOf(error.errors[0]);
  return error.message === '' && 'code' in error ? String(error.code) : error.message;
}

/** Connects to Temporal, or rejects with a {@link SetupError} that names the address. */
export async function connectTemporal<T>(
  settings: Settings,
  connect: (options: ClientConnectConfig['connectionOptions']) => Promise<T>,
): Promise<{ connection: T; namespace: string }> {
  const { connectionOptions, namespace = 'default' } = temporalConnection(settings);
  try {
    return { connection: await retrying(() => connect(connectionOptions), serverWaitMs()), namespace };
  } catch (error) {
    const address = connectionOptions.address ?? 'localhost:7233';
    const hint = settings.externalTemporal
      ? 'check the TEMPORAL_* variables'
      : 'run `npm start`, or set TEMPORAL_ADDRESS';
    throw new SetupError(`Cannot reach Temporal at ${address} (${codeOf(error)}); ${hint}`);
  }
}

/**
 * Tries until it works or `withinMs` have passed, then rejects with the last fault. For servers that are starting, or that
 * a busy machine keeps from answering; what cannot get better is passed on at once by `isFinal`.
 */
export async function retrying<T>(
  work: () => Promise<T>,
  withinMs: number,
  isFinal: (error: unknown) => boolean = () => false,
): Promise<T> {
  const end = Date.now() + withinMs;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (isFinal(error) || Date.now() + RETRY_PAUSE_MS > end) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, RETRY_PAUSE_MS));
  }
}
