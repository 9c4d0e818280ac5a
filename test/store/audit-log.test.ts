import { beforeEach, describe, expect, it } from 'vitest';
import type { AuditLogEntry } from '../../contract/audit-logs.ts';
import type { AuditLogRequest } from '../../store/queries/audit-log.ts';
import type { Scope } from '../../store/scope.ts';
import { runOnce, SCOPE, useStore } from './databases.ts';

const DAY_MS = 86_400_000;

const COLUMNS = [...Object.keys(entry()), 'organization_id', 'project_id'];

function entry(more: Partial<AuditLogEntry> = {}): AuditLogEntry {
  return {
    timestamp: '2026-03-01T12:00:00.000Z',
    auth_strategy: 'api_key',
    user_id: 'usr_1',
    email: 'ann@example.com',
    status: 200,
    method: 'GET',
    path: '/profiles',
    route: '/profiles',
    domain: 'localhost',
    duration_ms: 2,
    client_ip: '203.0.113.9',
    user_agent: 'test',
    ...more,
  };
}

describe('the audit log', () => {
  const context = useStore();
  let tests = 0;
  let whole: Scope = { organizationId: '', projectId: null };
  beforeEach(() => {
    tests += 1;
    whole = { organizationId: `org_${tests}`, projectId: null };
  });
  const add = (entries: AuditLogEntry[], projectId: string | null = SCOPE.projectId) =>
    context().store.auditLog.append(entries.map((each) => ({ ...whole, projectId, entry: each })));
  const find = async (request: Partial<AuditLogRequest>, scope = whole) =>
    (await context().store.auditLog.page(scope, { limit: 100, ...request })).rows;

  it('pages by token, newest first by the time of receipt, rows of one moment in the order written', async () => {
    const { store } = context();
    const times = ['10:00:00', '10:00:02', '10:00:01', '10:00:01', '10:00:01'];
    await add(times.map((time, index) => entry({ timestamp: `2026-03-01T${time}.000Z`, status: 200 + index })));
    const seen: number[] = [];
    let after: string | undefined;
    do {
      const page = await store.auditLog.page(whole, { limit: 2, after });
      seen.push(...page.rows.map(({ status }) => status));
      after = page.next ?? undefined;
    } while (after !== undefined);
    expect(seen).toEqual([201, 204, 203, 202, 200]);
    await expect(store.auditLog.page(whole, { limit: 2, after: 'x' })).rejects.toMatchObject({ code: 'invalid_input' });
  });

  it('shows a project its own rows alone, and takes nothing at all', async () => {
    await add([]);
    await add([entry()], null);
    await add([entry({ status: 201 })]);
    expect(await find({})).toHaveLength(2);
    expect(await find({}, { ...whole, projectId: SCOPE.projectId })).toEqual([entry({ status: 201 })]);
  });

  it.each<[string, Partial<AuditLogRequest>, string[]]>([
    ['a start, which is included', { start: new Date('2026-03-02T12:00:00Z') }, ['/browsers/b_1', '/browsersx']],
    ['an end, which is not', { end: new Date('2026-03-02T12:00:00Z') }, ['/profiles']],
    ['a method', { method: 'delete' }, ['/browsers/b_1']],
    ['methods to leave out', { exclude_method: ['get', 'POST'] }, ['/browsers/b_1']],
    ['a strategy', { auth_strategy: 'hosted_page' }, ['/browsersx']],
    ['the browser service', { service: 'browser' }, ['/browsers/b_1']],
    ['the rest', { service: 'api' }, ['/browsersx', '/profiles']],
    ['a service that is none', { service: 'mail' }, []],
    ['a part of the path', { search: 'BROWSERS' }, ['/browsers/b_1', '/browsersx']],
    ['a status', { search: '404' }, ['/browsersx']],
    ['text with a wildcard', { search: 'p%s' }, []],
    ['a user beside the text', { search: '404', search_user_id: ['usr_2'] }, ['/browsers/b_1', '/browsersx']],
  ])('is filtered by %s', async (_what, request, paths) => {
    await add([
      entry(),
      entry({ timestamp: '2026-03-02T12:00:00.000Z', path: '/browsers/b_1', method: 'DELETE', user_id: 'usr_2' }),
      entry({ timestamp: '2026-03-02T12:00:00.000Z', path: '/browsersx', status: 404, auth_strategy: 'hosted_page' }),
    ]);
    expect((await find(request)).map(({ path }) => path).toSorted()).toEqual(paths.toSorted());
  });

  it('tells that a row was changed, taken out or put in, and not that its oldest went by age', async () => {
    const { store, database } = context();
    const after = async (change: string) => {
      await runOnce(database.connection, change);
      return (await store.auditLog.verify()).broken;
    };
    await runOnce(database.connection, 'truncate audit_log restart identity');
    await add([entry(), entry()]);
    await Promise.all(Array.from({ length: 20 }, (_, index) => add([entry({ status: 200 + index }), entry()])));
    expect(await store.auditLog.verify()).toEqual({ rows: 42, broken: null });
    expect(await after('update audit_log set status = 404 where seq = 4')).toEqual({ seq: 4, fault: 'changed' });
    expect(await after('delete from audit_log where seq = 4')).toEqual({ seq: 5, fault: 'gap' });
    expect(await after('delete from audit_log where seq < 5')).toBeNull();
    const copied = COLUMNS.join(', ');
    const copy = `insert into audit_log (seq, ${copied}) select 1000, ${copied} from audit_log where seq = 6`;
    expect(await after(copy)).toEqual({ seq: 1000, fault: 'changed' });
    await runOnce(database.connection, 'truncate audit_log restart identity');
  });

  it('is swept by age, from its beginning on', async () => {
    const daysAgo = (days: number) => new Date(Date.now() - days * DAY_MS).toISOString();
    await add([11, 9, 12].map((days) => entry({ timestamp: daysAgo(days), path: `/${days}` })));
    await context()
      .open({ auditKeptMs: 10 * DAY_MS })
      .sweep();
    expect((await find({})).map(({ path }) => path)).toEqual(['/9', '/12']);
  });
});
