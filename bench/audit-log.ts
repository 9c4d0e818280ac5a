import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { startChild } from '../start/child-process.ts';
import { postgresServer } from '../start/postgres/server.ts';
import { socketDirOf } from '../start/postgres/socket.ts';
import { clientConfig } from '../store/database.ts';
import type { AuditRecord } from '../store/queries/audit-log.ts';
import { createStore, DEFAULT_ORGANIZATION_ID, type Store } from '../store/store.ts';
import { measurePages } from './audit-log-pages.ts';
import { fillAuditLog } from './audit-log-rows.ts';
import type { Figure } from './figure.ts';

const ROWS = Number(process.env['AUDIT_ROWS'] ?? 10_000_000);
const APPEND_MS = 5000;
/** A typical batch of an API under load. */
const ROWS_AN_APPEND = 16;

/** Measures pages and appends of a full audit log, on its own Postgres. Takes about ten minutes. */
export async function measureAuditLog(): Promise<Figure[]> {
  const parent = await mkdtemp(join(tmpdir(), 'holdfast-bench-audit-'));
  const folder = join(parent, 'postgres');
  const server = await startChild(await postgresServer(folder), parent);
  const connection = { socketDir: socketDirOf(folder) };
  try {
    await server.ready;
    const store = createStore({ connection, masterKey: randomBytes(32) });
    await store.migrate();
    await store.bootstrap({ plan: 'enterprise' });
    const empty = await appendsPerSecond(store);
    const client = new pg.Client(clientConfig(connection));
    await client.connect();
    await fillAuditLog(client, ROWS);
    await client.end();
    const figures = await measurePages(store, ROWS);
    const full = await appendsPerSecond(store);
    await store.close();
    const of = (figure: number): string => `${Math.round(figure)} (${ROWS_AN_APPEND} at a time)`;
    return [
      ...figures,
      { name: 'Rows appended to an empty audit log a second', value: of(empty) },
      { name: `Rows appended a second to one of ${ROWS.toLocaleString('en')} rows`, value: of(full) },
    ];
  } finally {
    await server.stop(() => undefined);
    await rm(parent, { recursive: true, force: true });
  }
}

async function appendsPerSecond(store: Store): Promise<number> {
  const began = performance.now();
  let count = 0;
  while (performance.now() - began < APPEND_MS) {
    await store.auditLog.append(Array.from({ length: ROWS_AN_APPEND }, newRecord));
    count += ROWS_AN_APPEND;
  }
  return count / ((performance.now() - began) / 1000);
}

function newRecord(): AuditRecord {
  return {
    organizationId: DEFAULT_ORGANIZATION_ID,
    projectId: 'prj_1',
    entry: {
      timestamp: new Date().toISOString(),
      auth_strategy: 'api_key',
      user_id: 'usr_1',
      email: 'person1@example.com',
      status: 200,
      method: 'GET',
      path: `/auth/connections/conn_${randomBytes(12).toString('hex')}`,
      route: '/auth/connections/:id',
      domain: 'holdfast.example.com',
      duration_ms: 4,
      client_ip: '203.0.113.9',
      user_agent: 'Kernel/JS 0.6.0',
    },
  };
}
