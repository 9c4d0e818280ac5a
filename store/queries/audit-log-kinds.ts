import type { Selectable } from 'kysely';
import type { AuditLogFilters } from '../../contract/audit-logs.ts';
import type { Db } from '../database.ts';
import type { Database } from '../schema.ts';
import type { Scope } from '../scope.ts';

/** What decides the kind of a row. */
export interface KindOfRow {
  organization_id: string;
  project_id: string | null;
  method: string;
  auth_strategy: string;
  path: string;
}

/**
 * Kinds of rows of the audit log: organization, project, method, strategy and service together. There are few, so that a
 * filter by any of them becomes a look at each kind that it leaves, newest first by one index, however rare they are.
 */
export interface AuditLogKinds {
  /** The kind of each row; new ones are made. */
  ensure(rows: readonly KindOfRow[]): Promise<number[]>;
  /** What a reader's scope and filters leave; null where that is all of an organization. */
  matching(scope: Scope, filters: Partial<AuditLogFilters>): Promise<KindsLeft | null>;
  /** True when the row is of the kind that it says. */
  isOf(row: KindOfRow & { kind: number }): Promise<boolean>;
}

/** Some of an organization's kinds. */
export interface KindsLeft {
  ids: number[];
  /** What rows of these kinds have, by the labels of the index of lookups: of each of these one. */
  labels: string[][];
}

/** Kinds are never changed, so a process asks once for each. */
export function createAuditLogKinds(db: Db): AuditLogKinds {
  const known = new Map<string, number>();
  const remember = (kind: Selectable<Database['audit_log_kinds']>): void =>
    void known.set(
      nameOf([kind.organization_id, kind.project_id, kind.method, kind.auth_strategy, kind.service]),
      kind.id,
    );
  const find = async (row: KindOfRow): Promise<number | undefined> => {
    const [organization_id, project_id, method, auth_strategy, service] = partsOf(row);
    const found = await db
      .selectFrom('audit_log_kinds')
      .selectAll()
      .where((eb) => eb.and({ organization_id, project_id, method, auth_strategy, service }))
      .executeTakeFirst();
    if (found !== undefined) remember(found);
    return found?.id;
  };

  const ensure = async (row: KindOfRow): Promise<number> => {
    const parts = partsOf(row);
    const id = known.get(nameOf(parts)) ?? (await find(row));
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
    isOf: async (row) => (known.get(nameOf(partsOf(row))) ?? (await find(row))) === row.kind,
  };
}

function partsOf(row: KindOfRow): readonly [string, string, string, string, string] {
  const service = /^\/(browsers|browser_pools)(\/|$)/.test(row.path) ? 'browser' : 'api';
  return [row.organization_id, row.project_id ?? '', row.method, row.auth_strategy, service];
}

function nameOf(parts: readonly string[]): string {
  return JSON.stringify(parts);
}
