import pg from 'pg';
import { describe, expect, it } from 'vitest';
import { clientConfig, createPool, openDatabase } from '../../store/database.ts';
import { auditLogPartitions } from '../../store/migrations/0026-audit-log-partitions.ts';
import type { AuditLogRequest } from '../../store/queries/audit-log.ts';
import { auditEntry } from './audit-entry.ts';
import { runOnce, useStore } from './databases.ts';

const WHOLE = { organizationId: 'org_default', projectId: null };
const COLUMNS = `seq, timestamp, organization_id, project_id, auth_strategy, user_id, email, status, method, path, route,
  domain, duration_ms, client_ip, user_agent, previous_seal, seal`;

describe('partitions of the audit log', () => {
  const context = useStore();
  const add = (...days: string[]) =>
    context().store.auditLog.append(
      days.map((day) => ({ ...WHOLE, entry: auditEntry({ timestamp: `${day}T00:00:00.000Z`, path: `/${day}` }) })),
    );
  const find = async (request: Partial<AuditLogRequest> = {}) =>
    (await context().store.auditLog.page(WHOLE, { limit: 100, ...request })).rows.map(({ path }) => path.slice(1));
  const months = async (): Promise<string[]> => {
    const client = new pg.Client(clientConfig(context().database.connection));
    await client.connect();
    const { rows } = await client.query<{ name: string }>(
      `select inhrelid::regclass::text as name from pg_inherits where inhparent = 'audit_log'::regclass order by 1`,
    );
    await client.end();
    return rows.map(({ name }) => name.replace('audit_log_', ''));
  };

  it('are created on demand and dropped as a whole, and the remaining rows stay one chain', async () => {
    const { store, open } = context();
    await add('2031-01-30');
    await add('2031-02-02', '2031-01-31');
    await add('2031-03-01');
    await add('2031-02-28');
    await add('2031-03-02');
    expect(await months()).toEqual(expect.arrayContaining(['2031_01', '2031_02', '2031_03']));
    expect(await find({ start: new Date('2031-02-01'), end: new Date('2031-03-01') })).toEqual([
      '2031-02-28',
      '2031-02-02',
    ]);
    const at = (time: string) => open({ auditKeptMs: 1, clock: () => new Date(time) });
    await at('2031-02-01T00:00:00.001Z').sweep();
    expect(await find()).toEqual(['2031-03-02', '2031-03-01', '2031-02-28', '2031-02-02', '2031-01-31']);
    expect(await months()).not.toContain('2031_01');
    // Those of this month and of the next two are made ahead.
    expect(await months()).toEqual(expect.arrayContaining(['2031_02', '2031_03', '2031_04']));
    // By rows: of the month before, a day was still kept.
    await at('2031-03-01T00:00:00.000Z').sweep();
    expect(await store.auditLog.verify()).toEqual({ rows: 3, broken: null });
    await runOnce(
      context().database.connection,
      `update audit_log set written_at = '2031-03-01' where path like '%03-02'`,
    );
    expect((await store.auditLog.verify()).broken).toMatchObject({ fault: 'changed' });
    await runOnce(context().database.connection, `delete from audit_log`);
  });

  it('get indexes missing after an upgrade, even an unfinished one, and are searched with them', async () => {
    const { database, open } = context();
    await add('2031-03-03', '2031-04-02');
    const client = new pg.Client(clientConfig(database.connection));
    await client.connect();
    const made = async () =>
      (
        await client.query<{ valid: boolean; months: number }>(
          `select indisvalid as valid, (select count(*) from pg_inherits where inhparent = indexrelid) as months
            from pg_index where indexrelid = 'audit_log_lookup'::regclass`,
        )
      ).rows[0];
    const before = await made();
    const { rows } = await client.query<{ definition: string }>(
      `select pg_get_indexdef('audit_log_lookup'::regclass) as definition`,
    );
    await client.query('drop index audit_log_lookup');
    await client.query(rows[0]?.definition ?? '');
    await client.query('create index audit_log_2031_03_lookup on audit_log_2031_03 (kind)');
    expect(await made()).toEqual({ valid: false, months: 0 });
    // Of two processes one makes them.
    const now = { clock: () => new Date('2031-03-15') };
    await Promise.all([open(now).sweep(), open(now).sweep()]);
    expect(await made()).toEqual({ ...before, valid: true });
    await client.end();
    expect(await find({ search: '/2031-03' })).toEqual(['2031-03-03']);
    await runOnce(database.connection, 'delete from audit_log');
  });

  it('take over the rows of an older schema with their seals and order', async () => {
    const { database } = context();
    await add('2031-05-01', '2031-04-01');
    await add('2031-06-01');
    await runOnce(
      database.connection,
      `drop function add_audit_log_partition;
       alter table audit_log rename to audit_log_months;
       create table audit_log as select ${COLUMNS} from audit_log_months;
       drop table audit_log_months, audit_log_head, audit_log_kinds`,
    );
    const db = openDatabase(createPool(database.connection, 1));
    await auditLogPartitions.up(db);
    await db.destroy();
    const fresh = context().open();
    expect(await fresh.auditLog.verify()).toEqual({ rows: 3, broken: null });
    await fresh.auditLog.append([{ ...WHOLE, entry: auditEntry({ timestamp: '2031-06-02T00:00:00.000Z' }) }]);
    expect(await fresh.auditLog.verify()).toEqual({ rows: 4, broken: null });
    expect(await find({ method: 'GET', end: new Date('2031-06-02') })).toEqual([
      '2031-06-01',
      '2031-05-01',
      '2031-04-01',
    ]);
  });
});
