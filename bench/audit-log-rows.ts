import type pg from 'pg';
import { say } from '../start/terminal.ts';
import { DEFAULT_ORGANIZATION_ID } from '../store/store.ts';

/** Age of the oldest row, in days. */
export const DAYS = Number(process.env['AUDIT_DAYS'] ?? 365);
const DAY_MS = 86_400_000;
/** A browser session with forty rows. */
export const ONE_SESSION = 'brs_q7w2k9x4m1p8z5t3';

/** Inserts a year of rows: most by a few users of a few projects, with rare ones of every kind. */
export async function fillAuditLog(client: pg.Client, count: number): Promise<void> {
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
    [new Date(from), (DAYS * DAY_MS) / count, count],
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
        when i / 40 = ${Math.floor((count * 0.98) / 40)} then '/browsers/${ONE_SESSION}/computer/type'
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
  say(`${count.toLocaleString('en')} rows inserted`);
  await client.query('drop table seeds, made');
  for (const { indexdef, indexname } of indexes) {
    await client.query(indexdef.replace(' ON ONLY ', ' ON '));
    say(`${indexname} created`);
  }
  await client.query('vacuum analyze audit_log');
}
