import type { Selectable } from 'kysely';
import type { AuditLogFilters } from '../../contract/audit-logs.ts';
import type { Db } from '../database.ts';
import type { Database } from '../schema.ts';
import type { Scope } from '../scope.ts';

/** The columns that determine the kind of a row. */
interface KindColumns {
  organization_id: string;
  project_id: string | null;
  method: string;
  auth_strategy: string;
  path: string;
}

/**
 * Kinds of audit log rows: the combinations of organization, project, method, strategy and service. There are few, so a
 * filter on any of them becomes one index scan per matching kind, newest first, however rare the kind is.
 */
interface AuditLogKinds {
  /** The kind of each row; creates missing ones. */
  ensure(rows: readonly KindColumns[]): Promise<number[]>;
  /** The kinds that match a scope and filters; null if that is the whole organization. */
  matching(scope: Scope, filters: Partial<AuditLogFilters>): Promise<MatchingKinds | null>;
  /** True if the stored kind of the row is correct. */
  hasKind(row: KindColumns & { kind: number }): Promise<boolean>;
}

/** Some of an organization's kinds. */
export interface MatchingKinds {
  ids: number[];
  /** Labels in the lookup index: every row of these kinds has one label of each group. */
  labels: string[][];
}

/** Kinds never change, so each process reads them once. */
export function createAuditLogKinds(db: Db): AuditLogKinds {
  const known = new Map<string, number>();
  const remember = (kind: Selectable<Database['audit_log_kinds']>): void =>
    void known.set(
      cacheKey([kind.organization_id, kind.project_id, kind.method, kind.auth_strategy, kind.service]),
      kind.id,
    );
  const find = async (row: KindColumns): Promise<number | undefined> => {
    const [organization_id, project_id, method, auth_strategy, service] = partsOf(row);
    const found = await db
      .selectFrom('audit_log_kinds')
      .selectAll()
      .where((eb) => eb.and({ organization_id, project_id, method, auth_strategy, service }))
      .executeTakeFirst();
    if (found !== undefined) remember(found);
    return found?.id;
  };

  const ensure = async (row: KindColumns): Promise<number> => {
    const parts = partsOf(row);
    const id = known.get(cacheKey(parts)) ?? (await find(row));
    if (id !== undefined) return id;
    const [organization_id, project_id, method, auth_strategy, service] = parts;
    await db
      .insertInto('audit_log_kinds')
      .values({ organization_id, project_id, method, auth_strategy, service })
      .onConflict((conflict) => conflict.doNothing())
      .execute();
    return (await find(row)) ?? ensure(row);
  };

  return {
    ensure: async (rows) => {
      const ids: number[] = [];
      for (const row of rows) ids.push(await ensure(row));
      return ids;
    },
    matching: async (scope, { method, exclude_method: excluded = [], auth_strategy: strategy, service }) => {
      const { projectId } = scope;
      const isAll = [projectId ?? undefined, method, strategy, service].every((each) => each === undefined);
      if (isAll && excluded.length === 0) return null;
      const rows = await db
        .selectFrom('audit_log_kinds')
        .select(['id', 'method'])
        .where('organization_id', '=', scope.organizationId)
        .$if(projectId !== null, (q) => q.where('project_id', '=', projectId ?? ''))
        .$if(method !== undefined, (q) => q.where('method', '=', (method ?? '').toUpperCase()))
        .$if(excluded.length > 0, (q) =>
          q.where(
            'method',
            'not in',
            excluded.map((each) => each.toUpperCase()),
          ),
        )
        .$if(strategy !== undefined, (q) => q.where('auth_strategy', '=', strategy ?? ''))
        .$if(service !== undefined, (q) => q.where('service', '=', service ?? ''))
        .orderBy('id')
        .execute();
      const methods = new Set(rows.map((row) => `method ${row.method}`));
      return {
        ids: rows.map(({ id }) => id),
        labels: [
          ...(projectId === null ? [] : [[`project ${projectId}`]]),
          ...(method === undefined && excluded.length === 0 ? [] : [[...methods]]),
          ...(strategy === undefined ? [] : [[`strategy ${strategy}`]]),
          ...(service === undefined ? [] : [[`service ${service}`]]),
        ],
      };
    },
    hasKind: async (row) => (known.get(cacheKey(partsOf(row))) ?? (await find(row))) === row.kind,
  };
}

function partsOf(row: KindColumns): readonly [string, string, string, string, string] {
  const service = /^\/(browsers|browser_pools)(\/|$)/.test(row.path) ? 'browser' : 'api';
  return [row.organization_id, row.project_id ?? '', row.method, row.auth_strategy, service];
}

function cacheKey(parts: readonly string[]): string {
  return JSON.stringify(parts);
}
