import { sql } from 'kysely';
import { timingSafeEqual } from 'node:crypto';
import { HoldfastError } from '../../contract/errors.ts';
import { newId } from '../../contract/ids.ts';
import { hashApiKey, isPlausibleApiKey, maskApiKey, newApiKey } from '../api-key-format.ts';
import type { Db } from '../database.ts';
import { readPage, withinScope, type Page, type PageRequest, type ProjectScope, type Scope } from '../scope.ts';
import { holdActive } from './projects.ts';

/** An API key without the key: what lists and reads show (interface.md, "API key"). */
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
  /** Since when its project is archived; null for an active one, and without one. */
  projectArchivedAt: Date | null;
  maskedKey: string;
  /** The invocation whose program has it; null for the keys of callers. */
  invocationId: string | null;
}

/** API keys. Only a hash is stored; the key itself is in the answer of `create` and `rotate` alone. */
export interface ApiKeyQueries {
  /**
   * The live key that `token` is, or null (unknown, mistyped, revoked, expired). A key of our own form is tested by its
   * checksum before the database is asked. Never cached: a revoked key is refused on the next request.
   */
  authenticate(token: string): Promise<ApiKeyRecord | null>;
  /** Whose key `token` is or once was, also when it was revoked or has expired; it may do nothing. Null for none of ours. */
  formerOwner(token: string): Promise<Pick<ApiKeyRecord, 'organizationId' | 'projectId' | 'createdBy'> | null>;
  /** Throws `not_found` when the project is not in scope. */
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
  /** Revokes. False when there is no such live key. */
  remove(scope: Scope, id: string): Promise<boolean>;
  /**
   * Makes a key of the same name and project, and lets the former one end at `formerExpiresAt` (its own end, when that is
   * sooner), so that its users can change over. Null when there is no such live key.
   */
  rotate(
    scope: Scope,
    id: string,
    input: { expiresAt: Date | null; formerExpiresAt: Date; createdBy: ApiKeyRecord['createdBy'] },
  ): Promise<{ record: ApiKeyRecord; key: string } | null>;
  /** Makes the key of an invocation's program, in place of one that was made before; it is in no list. */
  createForInvocation(scope: ProjectScope, invocationId: string, expiresAt: Date): Promise<string>;
  /** Ends the key of an invocation's program. */
  removeForInvocation(invocationId: string): Promise<void>;
  /** Registers a key that the operator chose (`HOLDFAST_API_KEY`), organization-wide. May be called again. */
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

/** Who made the keys of programs. */
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

  const live = (scope: Scope, id: string) =>
    select()
      .where('api_keys.id', '=', id)
      .where('api_keys.deleted_at', 'is', null)
      .where(withinScope(scope, 'api_keys'));
  const find = async (scope: Scope, id: string): Promise<ApiKeyRecord | null> => {
    const row = await live(scope, id).executeTakeFirst();
    return row === undefined ? null : present(row);
  };
  const change = (scope: Scope, id: string) =>
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
    hash: hashApiKey(input.key),
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
      const hash = hashApiKey(token);
      const row = await select().where('hash', '=', hash).where('api_keys.deleted_at', 'is', null).executeTakeFirst();
      if (row === undefined || !timingSafeEqual(row.hash, hash)) return null;
      return row.expires_at !== null && row.expires_at <= clock() ? null : present(row);
    },
    formerOwner: async (token) => {
      if (!isPlausibleApiKey(token)) return null;
      const row = await select().where('hash', '=', hashApiKey(token)).executeTakeFirst();
      return row === undefined ? null : present(row);
    },
    create: async (scope, { name, expiresAt, projectId, createdBy }) => {
      const key = newApiKey();
      const row = rowOf({ organizationId: scope.organizationId, projectId, name, key, createdBy, expiresAt });
      await db.transaction().execute(async (trx) => {
        await holdProject(trx, scope, projectId);
        await trx.insertInto('api_keys').values(row).execute();
      });
      const record = await find(scope, row.id);
      if (record === null) throw new HoldfastError('not_found', 'The API key was removed as it was made');
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
      await change(scope, id).set({ name }).execute();
      return find(scope, id);
    },
    remove: async (scope, id) => {
      const { numUpdatedRows } = await change(scope, id).set({ deleted_at: clock() }).executeTakeFirst();
      return numUpdatedRows > 0n;
    },
    rotate: async (scope, id, { expiresAt, formerExpiresAt, createdBy }) => {
      const former = await find(scope, id);
      if (former === null) return null;
      const { organizationId, projectId, name } = former;
      const key = newApiKey();
      const row = rowOf({ organizationId, projectId, name, key, createdBy, expiresAt });
      const isLive = await db.transaction().execute(async (trx) => {
        const ended = await trx
          .updateTable('api_keys')
          .set({ expires_at: sql<Date>`least(expires_at, ${formerExpiresAt})` })
          .where('id', '=', id)
          .where('deleted_at', 'is', null)
          .executeTakeFirst();
        if (ended.numUpdatedRows === 0n) return false;
        await trx.insertInto('api_keys').values(row).execute();
        return true;
      });
      const record = isLive ? await find(scope, row.id) : null;
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
        throw new HoldfastError('invalid_input', 'The API key has fewer than 20 characters, or is mistyped');
      await db
        .insertInto('api_keys')
        .values(rowOf({ organizationId, projectId: null, name, key, createdBy, expiresAt: null }))
        .onConflict((conflict) => conflict.column('hash').doNothing())
        .execute();
    },
  };
}

/** Has the project that a key is made for stay active until the transaction ends. */
async function holdProject(trx: Db, scope: Scope, projectId: string | null): Promise<void> {
  // A key must not reach further than the credential that makes it.
  if (scope.projectId !== null && scope.projectId !== projectId)
    throw new HoldfastError(
      'forbidden',
      'A project-scoped credential can make keys of its project only (`project_id`)',
    );
  if (projectId === null) return;
  if ((await holdActive(trx, projectId)) !== scope.organizationId)
    throw new HoldfastError('not_found', '`project_id` names no active project of the organization');
}
