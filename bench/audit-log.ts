import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { startChild } from '../start/child-process.ts';
import { postgresServer } from '../start/postgres/server.ts';
import { socketDirOf } from '../start/postgres/socket.ts';
import { say } from '../start/terminal.ts';
import { clientConfig } from '../store/database.ts';
import type { AuditLogRequest, AuditRecord } from '../store/queries/audit-log.ts';
import { createStore, DEFAULT_ORGANIZATION_ID, type Store } from '../store/store.ts';
import { median, type Figure } from './figure.ts';

const ROWS = Number(process.env['AUDIT_ROWS'] ?? 10_000_000);
const DAYS = 365;
const DAY_MS = 86_400_000;
const TIMES = 15;
const AIM_MS = 50;
const ONE_SESSION = 'brs_q7w2k9x4m1p8z5t3';
const APPEND_MS = 5000;
/** As many as an API under load writes at once. */
const ROWS_AN_APPEND = 16;

/** Pages of a full audit log, by every filter, and appends a second to it; on a Postgres of its own. Some ten minutes. */
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
    await fill(client);
    await client.end();
    const figures = await pages(store);
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

async function pages(store: Store): Promise<Figure[]> {
  const end = new Date();
  const start = new Date(end.getTime() - 30 * DAY_MS);
  const whole = { organizationId: DEFAULT_ORGANIZATION_ID, projectId: null };
  const older = { start: new Date(end.getTime() - 200 * DAY_MS), end: new Date(end.getTime() - 170 * DAY_MS) };
  const first = await store.auditLog.page(whole, { start, end, limit: 100 });
  const asked: [string, Partial<AuditLogRequest>, (string | null)?][] = [
    ['first page', {}],
    ['page after a token', { after: first.next ?? '' }],
    ['30 days of half a year ago', older],
    ['`method` common', { method: 'GET' }],
    ['`method` rare', { method: 'PUT' }],
    ['`method` without a row', { method: 'HEAD' }],
    ['`exclude_method`, rare rows left', { exclude_method: ['GET', 'POST', 'PATCH', 'DELETE'] }],
    ['`search_user_id` common', { search_user_id: ['usr_1'] }],
    ['`search_user_id` rare', { search_user_id: ['usr_rare'] }],
    ['`search_user_id` without a row', { search_user_id: ['usr_none'] }],
    ['`auth_strategy` common', { auth_strategy: 'api_key' }],
    ['`auth_strategy` rare', { auth_strategy: 'code_token' }],
    ['`service=browser`', { service: 'browser' }],
    ['`search` of a common part of a path', { search: '/auth/connections' }],
    ['`search` of one session', { search: ONE_SESSION }],
    ['`search` of an address', { search: '203.0.113.77' }],
    ['`search` of an e-mail', { search: 'rare@example.com' }],
    ['`search` of a status', { search: '429' }],
    ['`search` without a row', { search: '/nowhere-at-all' }],
    ['`search` without a row, half a year ago', { ...older, search: '/nowhere-at-all' }],
    ['`search` or a user', { search: '/nowhere-at-all', search_user_id: ['usr_rare'] }],
    ['a project of many rows', {}, 'prj_1'],
    ['a project of few rows', {}, 'prj_rare'],
    ['a project, `method` and `search`', { method: 'POST', search: '/submit' }, 'prj_2'],
    ['the same, where only other projects have a row', { method: 'POST', search: '/submit' }, 'prj_1'],
  ];
  const figures: Figure[] = [];
  for (const [name, filters, projectId = null] of asked) {
    const times: number[] = [];
    let found = 0;
    for (let time = 0; time < TIMES; time += 1) {
      const began = performance.now();
      const { rows } = await store.auditLog.page({ ...whole, projectId }, { start, end, limit: 100, ...filters });
      times.push(performance.now() - began);
      found = rows.length;
    }
    const value = `${median(times).toFixed(1)} ms (at most ${Math.max(...times).toFixed(1)}, n=${TIMES}; ${found} rows)`;
    say(`${name}: ${value}`);
    figures.push({
      name: `Audit log of ${ROWS.toLocaleString('en')} rows, 30 days: ${name}`,
      value,
      aim: `within ${AIM_MS} ms`,
    });
  }
  return figures;
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

/** A year of rows: most by a few users of a few projects, rare ones of every kind among them. */
async function fill(client: pg.Client): Promise<void> {
  const { rows: indexes } = await client.query<{ indexdef: string; indexname: string }>(
    `select indexdef, indexname from pg_indexes where tablename = 'audit_log' and indexname not like '%pkey%'`,
  );
  for (const { indexname } of indexes) await client.query(`drop index ${indexname}`);
  await client.query(`set maintenance_work_mem = '512MB'; set synchronous_commit = off`);
  const from = Date.now() - DAYS * DAY_MS;
  for (let month = from; month < Date.now() + 31 * DAY_MS; month += 20 * DAY_MS)
    await client.query('select add_audit_log_partition($1)', [new Date(month)]);
  await client.query(
    `create temporary table seeds as select i,
        $1::timestamptz + i * ($2::float8 * interval '1 millisecond') as at,
        hashint8(i) & 1023 as dice, hashint8(i + 7) & 65535 as die, abs(hashint8(i / 40)) as session
      from generate_series(1, $3::int8) as i`,
    [new Date(from), (DAYS * DAY_MS) / ROWS, ROWS],
  );
  await client.query(`create temporary table made as select i, at,
      case when die = 0 then 'prj_rare' else 'prj_' || (dice & 7) end as project_id,
      case when die = 1 then 'PUT' when dice < 700 then 'GET' when dice < 950 then 'POST' when dice < 1000 then 'PATCH'
        else 'DELETE' end as method,
      case when die between 2 and 40 then 'code_token' when dice % 10 = 0 then 'hosted_page' else 'api_key' end as auth_strategy,
      case when die = 3 then 'usr_rare' else 'usr_' || (dice & 31) end as user_id,
      case when die = 3 then 'rare@example.com' else 'person' || (dice & 31) || '@example.com' end as email,
      case when die = 4 then 429 when dice % 50 = 0 then 404 else 200 end as status,
      case when dice % 3 = 0 then '/auth/connections/conn_' || left(md5(session::text), 24) || case when dice % 2 = 0 then '/submit' else '' end
        when i / 40 = ${Math.floor((ROWS * 0.98) / 40)} then '/browsers/${ONE_SESSION}/computer/type'
        else '/browsers/brs_' || md5(session::text) || '/computer/type' end as path,
      case when die = 5 then '203.0.113.77' else (session & 223) || '.' || (session >> 8 & 255) || '.' || (session >> 16 & 255)
        || '.' || (session >> 24 & 127) end as client_ip
    from seeds`);
  await client.query(`insert into audit_log_kinds (organization_id, project_id, method, auth_strategy, service)
    select distinct '${DEFAULT_ORGANIZATION_ID}', project_id, method, auth_strategy, case when path like '/browsers%' then 'browser' else 'api' end
    from made on conflict do nothing`);
  await client.query(`insert into audit_log select nextval('audit_log_numbers'), at, at, kinds.id,
      '${DEFAULT_ORGANIZATION_ID}', made.project_id, made.auth_strategy, user_id, email, status, made.method, path,
      '/browsers/:id/computer/type', 'holdfast.example.com', 4, client_ip, 'Kernel/JS 0.6.0', sha256(i::text::bytea), sha256(i::text::bytea)
    from made join audit_log_kinds kinds on (kinds.project_id, kinds.method, kinds.auth_strategy, kinds.service)
      = (made.project_id, made.method, made.auth_strategy, case when path like '/browsers%' then 'browser' else 'api' end)
    order by i`);
  say(`${ROWS.toLocaleString('en')} rows are in`);
  await client.query('drop table seeds, made');
  for (const { indexdef, indexname } of indexes) {
    await client.query(indexdef.replace(' ON ONLY ', ' ON '));
    say(`${indexname} is made`);
  }
  await client.query('vacuum analyze audit_log');
}
