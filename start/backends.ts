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

/** Pause between two attempts, in milliseconds. */
const RETRY_PAUSE_MS = 500;

/** How a role reaches the database: DATABASE_URL, else the Postgres of `npm start` in the same data folder. */
export function storeConnection(settings: Pick<Settings, 'dataDir' | 'databaseUrl'>): StoreConnection {
  return settings.databaseUrl === undefined
    ? { socketDir: socketDirOf(postgresFolder(settings.dataDir)) }
    : { url: settings.databaseUrl };
}

/** How a role reaches Temporal: the TEMPORAL_* variables, else the dev server of `npm start`. */
function temporalConnection(settings: Settings): ClientConnectConfig {
  return (
    settings.externalTemporal ?? {
      connectionOptions: { address: `127.0.0.1:${settings.ports.temporal}` },
      namespace: 'default',
    }
  );
}

/** How a role reaches the browser service: BROWSER_BASE_URL, else the one of `npm start`. */
export function browserBaseUrl(settings: Settings): string {
  return settings.browserBaseUrl ?? localBaseUrl(settings.host, settings.ports.browser);
}

/** The URL for processes on this machine to reach a service that listens on `host`. */
export function localBaseUrl(host: string, port: number): string {
  const loopback: Record<string, string> = { '0.0.0.0': '127.0.0.1', '::': '::1' };
  const address = loopback[host] ?? host;
  return `http://${address.includes(':') ? `[${address}]` : address}:${port}`;
}

/**
 * Opens the store, with its schema migrated and the default organization, project and key created. Several processes may call
 * it concurrently. Rejects with a {@link SetupError} if the database cannot be used.
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
    await retry(() => store.migrate(), serverWaitMs(), isPermanent);
    await retry(() => store.bootstrap({ plan: settings.plan, apiKey: keys.apiKey }), serverWaitMs(), isPermanent);
    return store;
  } catch (error) {
    await store.close().catch(() => undefined);
    const database =
      settings.databaseUrl === undefined ? 'the store of this data folder' : 'the database at DATABASE_URL';
    const hint = settings.databaseUrl === undefined ? 'run `npm start` on it, or set DATABASE_URL' : 'correct it';
    if (isPermanent(error)) throw error;
    throw new SetupError(`Cannot use ${database} (${describeError(error)}); ${hint}`);
  }
}

/** A fault such as a wrong master key, which has its own message and which retrying does not fix. */
function isPermanent(error: unknown): boolean {
  return error instanceof HoldfastError && error.code !== 'unavailable';
}

/**
 * How long to wait for an unreachable server, in milliseconds. Under the supervisor it is only slow or restarting; a person who
 * starts a single role wants to know soon.
 */
function serverWaitMs(): number {
  return isSupervised() ? 45_000 : 4_000;
}

/** The message of the system or database, which contains no password. */
function describeError(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown error';
  if (/connection ?refused|ECONNREFUSED/i.test(error.message)) return 'connection refused';
  if (error instanceof AggregateError && error.errors[0] instanceof Error) return describeError(error.errors[0]);
  return error.message === '' && 'code' in error ? String(error.code) : error.message;
}

/** Connects to Temporal. Rejects with a {@link SetupError} that names the address. */
export async function connectTemporal<T>(
  settings: Settings,
  connect: (options: ClientConnectConfig['connectionOptions']) => Promise<T>,
): Promise<{ connection: T; namespace: string }> {
  const { connectionOptions, namespace = 'default' } = temporalConnection(settings);
  try {
    return { connection: await retry(() => connect(connectionOptions), serverWaitMs()), namespace };
  } catch (error) {
    const address = connectionOptions.address ?? 'localhost:7233';
    const hint = settings.externalTemporal
      ? 'check the TEMPORAL_* variables'
      : 'run `npm start`, or set TEMPORAL_ADDRESS';
    throw new SetupError(`Cannot reach Temporal at ${address} (${describeError(error)}); ${hint}`);
  }
}

/**
 * Retries until `work` succeeds or `withinMs` have passed, then rejects with the last error. For servers that are starting or
 * slow. Errors for which `isFatal` is true are rethrown at once.
 */
export async function retry<T>(
  work: () => Promise<T>,
  withinMs: number,
  isFatal: (error: unknown) => boolean = () => false,
): Promise<T> {
  const end = Date.now() + withinMs;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (isFatal(error) || Date.now() + RETRY_PAUSE_MS > end) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, RETRY_PAUSE_MS));
  }
}
