import { sql } from 'kysely';
import { timingSafeEqual } from 'node:crypto';
import { HoldfastError } from '../../contract/errors.ts';
import { newId } from '../../contract/ids.ts';
import type { Db } from '../database.ts';
import {
  affectsRow,
  findOne,
  readPage,
  withinScope,
  type Page,
  type PageRequest,
  type ProjectScope,
  type Scope,
} from '../scope.ts';
import { hashSecretToken, isPlausibleApiKey, maskApiKey, newApiKey } from '../secret-tokens.ts';
import { lockActiveProject } from './projects.ts';

/** An API key, without the key itself. */
export interface ApiKeyRecord {
  id: string;
  organizationId: string;
  name: string;
  createdAt: Date;
  createdBy: { id: string; email: string; name: string | null };
  expiresAt: Date | null;
  deletedAt: Date | null;
  /** Null: organization-wide. */
  projectId: string | null;
  projectName: string | null;
  /** When its project was archived; null for an active project, and without one. */
  projectArchivedAt: Date | null;
  maskedKey: string;
  /** The invocation whose program uses it; null for callers' keys. */
  invocationId: string | null;
}

/** API keys. Only a hash is stored; the key itself is returned only by `create` and `rotate`. */
export interface ApiKeyQueries {
  /**
   * The valid key for `token`, or null (unknown, mistyped, revoked, expired). The checksum of a key in our own format is
   * verified before the database is asked. Never cached: a revoked key is rejected on the next request.
   */
  authenticate(token: string): Promise<ApiKeyRecord | null>;
  /** The owner of `token`, even if it was revoked or has expired; it grants no access. Null for an unknown token. */
  findOwner(token: string): Promise<Pick<ApiKeyRecord, 'organizationId' | 'projectId' | 'createdBy'> | null>;
  /** Throws `not_found` if the organization has no such active project, `forbidden` if the scope is another project. */
  create(
    scope: Scope,
    input: {
      name: string;
      expiresAt: Date | null;
      projectId: string | null;
      createdBy: ApiKeyRecord['createdBy'];
    },
  ): Promise<{ record: ApiKeyRecord; key: string }>;
  list(scope: Scope, page: PageRequest & { includeDeleted?: boolean }): Promise<Page<ApiKeyRecord>>;
  find(scope: Scope, id: string): Promise<ApiKeyRecord | null>;
  rename(scope: Scope, id: string, name: string): Promise<ApiKeyRecord | null>;
  /** Revokes. False if there is no such active key. */
  remove(scope: Scope, id: string): Promise<boolean>;
  /**
   * Creates a key with the same name and project. The former key expires at `formerExpiresAt`, or at its own expiry if
   * that is sooner, so that its users can switch over. Null if there is no such active key.
   */
  rotate(
    scope: Scope,
    id: string,
    input: { expiresAt: Date | null; formerExpiresAt: Date; createdBy: ApiKeyRecord['createdBy'] },
  ): Promise<{ record: ApiKeyRecord; key: string } | null>;
  /** Creates the key of an invocation's program, replacing an earlier one. It appears in no list. */
  createForInvocation(scope: ProjectScope, invocationId: string, expiresAt: Date): Promise<string>;
  /** Deletes the key of an invocation's program. */
  removeForInvocation(invocationId: string): Promise<void>;
  /** Registers a key chosen by the operator (`HOLDFAST_API_KEY`), organization-wide. Idempotent. */
  register(
    organizationId: string,
    key: string,
    input: { name: string; createdBy: ApiKeyRecord['createdBy'] },
  ): Promise<void>;
}

interface NewApiKeyRow {
  organizationId: string;
  projectId: string | null;
  name: string;
  key: string;
  createdBy: ApiKeyRecord['createdBy'];
  expiresAt: Date | null;
  invocationId?: string;
}

/** The creator recorded for keys of programs. */
const PROGRAMS = { id: 'usr_programs', email: 'programs@holdfast.invalid', name: 'Programs' };

/** Queries of API keys. */
export function createApiKeyQueries(db: Db, clock: () => Date): ApiKeyQueries {
  const select = () =>
    db
      .selectFrom('api_keys')
      .leftJoin('projects', 'projects.id', 'api_keys.project_id')
      .selectAll('api_keys')
      .select(['projects.name as project_name', 'projects.archived_at as project_archived_at']);
  type Row = Awaited<ReturnType<ReturnType<typeof select>['executeTakeFirstOrThrow']>>;

  const find = (scope: Scope, id: string): Promise<ApiKeyRecord | null> =>
    findOne(
      select()
        .where('api_keys.id', '=', id)
        .where('api_keys.deleted_at', 'is', null)
        .where(withinScope(scope, 'api_keys')),
      present,
    );
  const update = (scope: Scope, id: string) =>
    db
      .updateTable('api_keys')
      .where('id', '=', id)
      .where('deleted_at', 'is', null)
      .where(withinScope(scope, 'api_keys'));

  const rowOf = (input: NewApiKeyRow) => ({
    id: newId('key'),
    organization_id: input.organizationId,
    project_id: input.projectId,
    name: input.name,
    hash: hashSecretToken(input.key),
    masked_key: maskApiKey(input.key),
    created_by_id: input.createdBy.id,
    created_by_email: input.createdBy.email,
    created_by_name: input.createdBy.name,
    created_at: clock(),
    expires_at: input.expiresAt,
    deleted_at: null,
    invocation_id: input.invocationId ?? null,
  });

  const present = (row: Row): ApiKeyRecord => ({
    id: row.id,
    organizationId: row.organization_id,
    name: row.name,
    createdAt: row.created_at,
    createdBy: { id: row.created_by_id, email: row.created_by_email, name: row.created_by_name },
    expiresAt: row.expires_at,
    deletedAt: row.deleted_at,
    projectId: row.project_id,
    projectName: row.project_name,
    projectArchivedAt: row.project_archived_at,
    maskedKey: row.masked_key,
    invocationId: row.invocation_id,
  });

  return {
    authenticate: async (token) => {
      if (!isPlausibleApiKey(token)) return null;
      const hash = hashSecretToken(token);
      const row = await select().where('hash', '=', hash).where('api_keys.deleted_at', 'is', null).executeTakeFirst();
      if (row === undefined || !timingSafeEqual(row.hash, hash)) return null;
      return row.expires_at !== null && row.expires_at <= clock() ? null : present(row);
    },
    findOwner: async (token) =>
      isPlausibleApiKey(token) ? findOne(select().where('hash', '=', hashSecretToken(token)), present) : null,
    create: async (scope, { name, expiresAt, projectId, createdBy }) => {
      const key = newApiKey();
      const row = rowOf({ organizationId: scope.organizationId, projectId, name, key, createdBy, expiresAt });
      await db.transaction().execute(async (trx) => {
        await lockTargetProject(trx, scope, projectId);
        await trx.insertInto('api_keys').values(row).execute();
      });
      const record = await find(scope, row.id);
      if (record === null)
        throw new HoldfastError('not_found', 'The API key was removed while it was being created; create another');
      return { record, key };
    },
    list: (scope, { includeDeleted = false, ...page }) => {
      const ordered = select()
        .where(withinScope(scope, 'api_keys'))
        .where('invocation_id', 'is', null)
        .$if(!includeDeleted, (query) => query.where('api_keys.deleted_at', 'is', null))
        .orderBy('api_keys.created_at', 'desc')
        .orderBy('api_keys.id', 'desc');
      return readPage(ordered, page, present);
    },
    find,
    rename: async (scope, id, name) => {
      await update(scope, id).set({ name }).execute();
      return find(scope, id);
    },
    remove: (scope, id) => affectsRow(update(scope, id).set({ deleted_at: clock() })),
    rotate: async (scope, id, { expiresAt, formerExpiresAt, createdBy }) => {
      const former = await find(scope, id);
      if (former === null) return null;
      const { organizationId, projectId, name } = former;
      const key = newApiKey();
      const row = rowOf({ organizationId, projectId, name, key, createdBy, expiresAt });
      const isRotated = await db.transaction().execute(async (trx) => {
        const isActive = await affectsRow(
          trx
            .updateTable('api_keys')
            .set({ expires_at: sql<Date>`least(expires_at, ${formerExpiresAt})` })
            .where('id', '=', id)
            .where('deleted_at', 'is', null),
        );
        if (isActive) await trx.insertInto('api_keys').values(row).execute();
        return isActive;
      });
      const record = isRotated ? await find(scope, row.id) : null;
      return record === null ? null : { record, key };
    },
    createForInvocation: async ({ organizationId, projectId }, invocationId, expiresAt) => {
      const key = newApiKey();
      const row = rowOf({
        organizationId,
        projectId,
        name: invocationId,
        key,
        createdBy: PROGRAMS,
        expiresAt,
        invocationId,
      });
      await db.transaction().execute(async (trx) => {
        await trx.deleteFrom('api_keys').where('invocation_id', '=', invocationId).execute();
        await trx.insertInto('api_keys').values(row).execute();
      });
      return key;
    },
    removeForInvocation: async (invocationId) => {
      await db.deleteFrom('api_keys').where('invocation_id', '=', invocationId).execute();
    },
    register: async (organizationId, key, { name, createdBy }) => {
      if (!isPlausibleApiKey(key))
        throw new HoldfastError('invalid_input', 'The API key is mistyped or not 20 to 512 characters long; check it');
      await db
        .insertInto('api_keys')
        .values(rowOf({ organizationId, projectId: null, name, key, createdBy, expiresAt: null }))
        .onConflict((conflict) => conflict.column('hash').doNothing())
        .execute();
    },
  };
}

/** Keeps the project of a new key active until the transaction ends. */
async function lockTargetProject(trx: Db, scope: Scope, projectId: string | null): Promise<void> {
  // A key must not have a wider scope than the credential that creates it.
  if (scope.projectId !== null && scope.projectId !== projectId)
    throw new HoldfastError(
      'forbidden',
      'project_id: a project-scoped credential can only create keys for its own project; send its id',
    );
  if (projectId === null) return;
  if ((await lockActiveProject(trx, projectId)) !== scope.organizationId)
    throw new HoldfastError(
      'not_found',
      'project_id: the organization has no active project with this id; list its projects',
    );
}
