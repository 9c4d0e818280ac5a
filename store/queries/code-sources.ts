import type { Selectable } from 'kysely';
import type { CodeSourceType } from '../../contract/code-sources.ts';
import { newId } from '../../contract/ids.ts';
import type { Db } from '../database.ts';
import type { Database } from '../schema.ts';
import {
  affectsRow,
  ownerColumns,
  readNewest,
  withinScope,
  type Page,
  type PageRequest,
  type ProjectScope,
  type Scope,
} from '../scope.ts';
import type { SealedPlace } from '../vault/seal.ts';
import type { Vault } from '../vault/vault.ts';
import { withActiveProject } from './projects.ts';

/** A provider that forwards messages, without its secret. */
export interface CodeSourceRecord {
  id: string;
  type: CodeSourceType;
  createdAt: Date;
}

/** Code sources of a project. Their secrets are sealed and write-only. */
export interface CodeSourceQueries {
  create(scope: ProjectScope, input: { type: CodeSourceType; secret: string }): Promise<CodeSourceRecord>;
  /** Newest first. */
  list(scope: Scope, page: PageRequest): Promise<Page<CodeSourceRecord>>;
  /** False if there was none. */
  remove(scope: Scope, id: string): Promise<boolean>;
  /** With its secret and project, to verify an incoming message. The secret is the proof, so no scope is checked. */
  open(id: string): Promise<(CodeSourceRecord & { secret: string; scope: ProjectScope }) | null>;
}

function secretPlace(id: string): SealedPlace {
  return { table: 'code_sources', column: 'sealed_secret', rowId: id };
}

/** Queries of code sources. */
export function createCodeSourceQueries(db: Db, vault: Vault, clock: () => Date): CodeSourceQueries {
  return {
    create: async (scope, { type, secret }) => {
      const id = newId('cds');
      const row = await withActiveProject(db, scope.projectId, async (trx) =>
        trx
          .insertInto('code_sources')
          .values({
            id,
            ...ownerColumns(scope),
            source_type: type,
            sealed_secret: await vault.sealJson(trx, scope.organizationId, secretPlace(id), secret),
            created_at: clock(),
          })
          .returningAll()
          .executeTakeFirstOrThrow(),
      );
      return present(row);
    },
    list: (scope, page) =>
      readNewest(db.selectFrom('code_sources').selectAll().where(withinScope(scope, 'code_sources')), page, present),
    remove: (scope, id) =>
      affectsRow(db.deleteFrom('code_sources').where(withinScope(scope, 'code_sources')).where('id', '=', id)),
    open: async (id) => {
      const row = await db.selectFrom('code_sources').selectAll().where('id', '=', id).executeTakeFirst();
      if (row === undefined) return null;
      const { organization_id: organizationId, project_id: projectId } = row;
      const secret = await vault.openText(db, organizationId, secretPlace(id), row.sealed_secret);
      return secret === null ? null : { ...present(row), secret, scope: { organizationId, projectId } };
    },
  };
}

function present(row: Selectable<Database['code_sources']>): CodeSourceRecord {
  return { id: row.id, type: row.source_type, createdAt: row.created_at };
}
