import { randomBytes } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { afterAll, beforeAll, describe, inject } from 'vitest';
import { z } from 'zod';
import type { ConnectionDocument } from '../../contract/document.ts';
import type { StoreConnection } from '../../store/database.ts';
import type { ProjectScope } from '../../store/scope.ts';
import { startStoreServer } from '../../store/server.ts';
import {
  createStore,
  DEFAULT_ORGANIZATION_ID,
  DEFAULT_PROJECT_ID,
  type Store,
  type StoreOptions,
} from '../../store/store.ts';

/** The two databases that every test of the store runs on. */
export const DATABASE_KINDS = ['pglite', 'postgres'] as const;
export type DatabaseKind = (typeof DATABASE_KINDS)[number];

/** A fresh database for one test file. */
export interface TestDatabase {
  kind: DatabaseKind;
  connection: StoreConnection;
  /** The folder of the embedded database; null for a real one. */
  folder: string | null;
  stop(): Promise<void>;
}

export const MASTER_KEY = randomBytes(32);
export const SCOPE: ProjectScope = { organizationId: DEFAULT_ORGANIZATION_ID, projectId: DEFAULT_PROJECT_ID };

/** Brings up a fresh database of one kind. */
export async function startDatabase(kind: DatabaseKind): Promise<TestDatabase> {
  if (kind === 'pglite') {
    const folder = mkdtempSync(join(tmpdir(), 'hf-store-'));
    const socketDir = join(folder, 'sock');
    await copyEmptyDatabase(join(folder, 'data'));
    const server = await startStoreServer({ dataDir: join(folder, 'data'), socketDir });
    return {
      kind,
      connection: { socketDir },
      folder,
      stop: async () => {
        await server.close();
        rmSync(folder, { recursive: true, force: true });
      },
    };
  }
  const admin = inject('postgresUrl');
  const name = `store_${randomBytes(6).toString('hex')}`;
  await runOnce({ url: admin }, `create database ${name}`);
  const url = new URL(admin);
  url.pathname = `/${name}`;
  return {
    kind,
    connection: { url: url.href },
    folder: null,
    stop: () => runOnce({ url: admin }, `drop database ${name} with (force)`),
  };
}

/** Making an empty database takes seconds, copying one does not: the first test that needs one keeps it for all. */
export const EMPTY_DATABASE = fileURLToPath(
  new URL(`../../node_modules/.cache/holdfast-test/pglite-${pgliteVersion()}`, import.meta.url),
);

/** Makes `dataDir` of `startStoreServer` as it is after a first start and a clean stop. */
export async function copyEmptyDatabase(dataDir: string): Promise<void> {
  if (!existsSync(EMPTY_DATABASE)) {
    const made = mkdtempSync(join(tmpdir(), 'hf-empty-'));
    const server = await startStoreServer({ dataDir: join(made, 'data'), socketDir: join(made, 'sock') });
    await server.close();
    mkdirSync(dirname(EMPTY_DATABASE), { recursive: true });
    const beside = `${EMPTY_DATABASE}.${process.pid}`;
    cpSync(join(made, 'data'), beside, { recursive: true });
    rmSync(made, { recursive: true, force: true });
    try {
      renameSync(beside, EMPTY_DATABASE);
    } catch {
      // Another test file was first.
      rmSync(beside, { recursive: true, force: true });
    }
  }
  cpSync(EMPTY_DATABASE, dataDir, { recursive: true });
}

function pgliteVersion(): string {
  const entry = createRequire(import.meta.url).resolve('@electric-sql/pglite');
  const manifest = z.object({ version: z.string() });
  return manifest.parse(JSON.parse(readFileSync(join(dirname(entry), '../package.json'), 'utf8'))).version;
}

/** A migrated store with the default organization, and a way to open more over the same database. */
export interface TestStore {
  database: TestDatabase;
  store: Store;
  open: (options?: Partial<StoreOptions>) => Store;
}

/** Runs the same tests on each database. `context()` is ready within tests and hooks. */
export function onEachDatabase(name: string, tests: (context: () => TestStore) => void): void {
  describe.each(DATABASE_KINDS)(`${name} on %s`, (kind) => {
    let current: TestStore | null = null;
    const opened: Store[] = [];
    beforeAll(async () => {
      const database = await startDatabase(kind);
      const open = (options: Partial<StoreOptions> = {}): Store => {
        const store = createStore({ connection: database.connection, masterKey: MASTER_KEY, ...options });
        opened.push(store);
        return store;
      };
      const store = open();
      await store.migrate();
      await store.bootstrap({ plan: 'enterprise' });
      current = { database, store, open };
    });
    afterAll(async () => {
      await Promise.all(opened.map((store) => store.close()));
      await current?.database.stop();
    });
    tests(() => {
      if (current === null) throw new Error('The database is not up yet.');
      return current;
    });
  });
}

/** Runs one statement on a connection of its own. */
export async function runOnce(to: StoreConnection, statement: string): Promise<void> {
  const client = new pg.Client(
    'url' in to
      ? { connectionString: to.url }
      : { host: to.socketDir, port: 5432, user: 'postgres', database: 'postgres' },
  );
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}

/** A document as a workflow would write it. */
export function documentOf(id: string, revision: number, overrides: Partial<ConnectionDocument> = {}) {
  const document: ConnectionDocument = {
    schema_version: 1,
    id,
    organization_id: SCOPE.organizationId,
    project_id: SCOPE.projectId,
    revision,
    created_at: '2026-01-01T00:00:00.000Z',
    settings: {
      domain: 'example.com',
      profile_name: 'ann',
      auto_reauth: true,
      health_check_interval: 3600,
      health_checks: true,
      record_session: false,
      save_credentials: true,
    },
    status: 'NEEDS_AUTH',
    post_login_url: null,
    can_reauth: false,
    can_reauth_reason: 'no_prior_successful_login',
    last_auth_check_at: null,
    flow: null,
    ...overrides,
  };
  return document;
}

/** Inserts a connection and answers its id. */
export async function addConnection(
  store: Store,
  input: { profileName?: string; domain?: string; scope?: ProjectScope; createdAt?: Date } = {},
): Promise<string> {
  const id = `conn_${randomBytes(8).toString('hex')}`;
  const scope = input.scope ?? SCOPE;
  const { outcome } = await store.connections.insert({
    id,
    organizationId: scope.organizationId,
    projectId: scope.projectId,
    profileName: input.profileName ?? 'ann',
    domain: input.domain ?? `${id}.example`,
    document: documentOf(id, 1),
    revision: 1,
    createdAt: input.createdAt ?? new Date(),
  });
  if (outcome !== 'inserted') throw new Error('The connection exists already.');
  return id;
}
