import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll, inject } from 'vitest';
import type { ConnectionDocument } from '../../contract/document.ts';
import { clientConfig, type StoreConnection } from '../../store/database.ts';
import type { ProjectScope } from '../../store/scope.ts';
import {
  createStore,
  DEFAULT_ORGANIZATION_ID,
  DEFAULT_PROJECT_ID,
  type Store,
  type StoreOptions,
} from '../../store/store.ts';
import { databaseUrl, TEMPLATE_DATABASE } from '../setup/postgres.ts';

/** A fresh database for one test file, with the schema of this build. */
export interface TestDatabase {
  connection: { url: string };
  stop(): Promise<void>;
}

export const MASTER_KEY = randomBytes(32);
export const SCOPE: ProjectScope = { organizationId: DEFAULT_ORGANIZATION_ID, projectId: DEFAULT_PROJECT_ID };

/** Makes a database on the server of this run. */
export async function startDatabase(): Promise<TestDatabase> {
  const server = inject('postgresUrl');
  const name = `test_${randomBytes(6).toString('hex')}`;
  await runOnce({ url: server }, `create database ${name} template ${TEMPLATE_DATABASE}`);
  return {
    connection: { url: databaseUrl(server, name) },
    stop: () => runOnce({ url: server }, `drop database ${name} with (force)`),
  };
}

/** A migrated store with the default organization, and a way to open more over the same database. */
export interface TestStore {
  database: TestDatabase;
  store: Store;
  open: (options?: Partial<StoreOptions>) => Store;
}

/** Gives the tests of a file, or of a `describe`, a store of their own. The answer is ready within tests and hooks. */
export function useStore(): () => TestStore {
  let current: TestStore | null = null;
  const opened: Store[] = [];
  beforeAll(async () => {
    const database = await startDatabase();
    const open = (options: Partial<StoreOptions> = {}): Store => {
      const store = createStore({ connection: database.connection, masterKey: MASTER_KEY, ...options });
      opened.push(store);
      return store;
    };
    const store = open();
    await store.bootstrap({ plan: 'enterprise' });
    current = { database, store, open };
  });
  afterAll(async () => {
    await Promise.all(opened.map((store) => store.close()));
    await current?.database.stop();
  });
  return () => {
    if (current === null) throw new Error('The database is not up yet.');
    return current;
  };
}

/** Runs one statement on a connection of its own. */
export async function runOnce(to: StoreConnection, statement: string): Promise<void> {
  const client = new pg.Client(clientConfig(to));
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
