import { beforeEach, describe, expect, it } from 'vitest';
import type { AuditLogEntry } from '../../contract/audit-logs.ts';
import type { AuditLogRequest } from '../../store/queries/audit-log.ts';
import type { Scope } from '../../store/scope.ts';
import { auditEntry } from './audit-entry.ts';
import { runOnce, SCOPE, useStore } from './databases.ts';

const DAY_MS = 86_400_000;

const COLUMNS = [...Object.keys(auditEntry()), 'organization_id', 'project_id', 'written_at', 'kind'];

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

  it('pages by token, newest first by time of receipt, then in the order written', async () => {
    const { store } = context();
    const times = ['10:00:00', '10:00:02', '10:00:01', '10:00:01', '10:00:01'];
    await add(times.map((time, index) => auditEntry({ timestamp: `2026-03-01T${time}.000Z`, status: 200 + index })));
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

  it('shows a project only its own rows, and accepts an empty append', async () => {
    await add([]);
    await add([auditEntry()], null);
    await add([auditEntry({ status: 201 })]);
    expect(await find({})).toHaveLength(2);
    expect(await find({}, { ...whole, projectId: SCOPE.projectId })).toEqual([auditEntry({ status: 201 })]);
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
      auditEntry(),
      auditEntry({ timestamp: '2026-03-02T12:00:00.000Z', path: '/browsers/b_1', method: 'DELETE', user_id: 'usr_2' }),
      auditEntry({
        timestamp: '2026-03-02T12:00:00.000Z',
        path: '/browsersx',
        status: 404,
        auth_strategy: 'hosted_page',
      }),
    ]);
    expect((await find(request)).map(({ path }) => path).toSorted()).toEqual(paths.toSorted());
  });

  it('finds rare and common rows among many rows of the same and of other kinds', async () => {
    const first = Date.parse('2026-03-01T00:00:00.000Z');
    // More rows of one kind than are looked at before the index is asked, and few of another, older and newer ones.
    const rows = Array.from({ length: 5000 }, (_, index) =>
      auditEntry({
        timestamp: new Date(first + index * 1000).toISOString(),
        method: 'POST',
        auth_strategy: index % 500 === 7 ? 'hosted_page' : 'api_key',
        path: `/${index % 1000 === 3 ? 'rare' : index % 250 === 7 ? 'mixed' : 'common'}/${index}`,
      }),
    );
    for (let at = 0; at < rows.length; at += 1000) await add(rows.slice(at, at + 1000));
    const expected = (search: string, limit: number) =>
      rows
        .map(({ path }) => path)
        .filter((path) => path.includes(search))
        .toReversed()
        .slice(0, limit);
    for (const [search, limit] of [
      ['/rare', 100],
      ['/rare', 3],
      // Every other one is of the kind that is looked through whole.
      ['/mixed', 5],
      ['/mixed', 100],
      ['/common', 100],
      ['/common/7', 100],
      ['/507', 100],
      ['/nowhere', 100],
    ] as const) {
      const found = await find({ method: 'POST', search, limit });
      expect([search, found.map(({ path }) => path)]).toEqual([search, expected(search, limit)]);
    }
    const pages: string[] = [];
    let after: string | undefined;
    do {
      const page = await context().store.auditLog.page(whole, { method: 'POST', search: '/rare', limit: 2, after });
      pages.push(...page.rows.map(({ path }) => path));
      after = page.next ?? undefined;
    } while (after !== undefined);
    expect(pages).toEqual(expected('/rare', 100));
  });

  it('detects a changed, removed or inserted row, but not rows deleted by age', async () => {
    const { store, database } = context();
    const after = async (change: string) => {
      await runOnce(database.connection, change);
      return (await store.auditLog.verify()).broken;
    };
    await runOnce(database.connection, 'truncate audit_log restart identity');
    await add([auditEntry(), auditEntry()]);
    await Promise.all(
      Array.from({ length: 20 }, (_, index) => add([auditEntry({ status: 200 + index }), auditEntry()])),
    );
    expect(await store.auditLog.verify()).toEqual({ rows: 42, broken: null });
    expect(await after('update audit_log set status = 404 where seq = 4')).toEqual({ seq: 4, fault: 'changed' });
    expect(await after('delete from audit_log where seq = 4')).toEqual({ seq: 5, fault: 'gap' });
    expect(await after('delete from audit_log where seq < 5')).toBeNull();
    const copied = COLUMNS.join(', ');
    const copy = `insert into audit_log (seq, ${copied}) select 1000, ${copied} from audit_log where seq = 6`;
    expect(await after(copy)).toEqual({ seq: 1000, fault: 'changed' });
    await runOnce(database.connection, 'truncate audit_log restart identity');
  });

  it('is swept by age, oldest rows first', async () => {
    const daysAgo = (days: number) => new Date(Date.now() - days * DAY_MS).toISOString();
    await add([11, 9, 12].map((days) => auditEntry({ timestamp: daysAgo(days), path: `/${days}` })));
    await context()
      .open({ auditKeptMs: 10 * DAY_MS })
      .sweep();
    expect((await find({})).map(({ path }) => path)).toEqual(['/9', '/12']);
  });
});
