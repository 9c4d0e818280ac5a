import { sql, type Selectable } from 'kysely';
import { HoldfastError } from '../../contract/errors.ts';
import { newId } from '../../contract/ids.ts';
import { isUniqueViolation, type Db } from '../database.ts';
import type { Database } from '../schema.ts';
import {
  containsText,
  findByIdOrName,
  readPage,
  withinScope,
  type Page,
  type PageRequest,
  type ProjectScope,
  type Scope,
} from '../scope.ts';
import type { SealedPlace } from '../vault/seal.ts';
import type { Vault } from '../vault/vault.ts';
import { whileActive } from './projects.ts';

/** A profile without its state. `name` may be absent (POST /profiles needs none). */
export interface ProfileRecord {
  id: string;
  projectId: string;
  name: string | null;
  revision: number;
  createdAt: Date;
  updatedAt: Date;
  lastUsedAt: Date | null;
}

/** A profile with its opened state; `state` is null before the first save. */
export interface LoadedProfile {
  id: string;
  name: string | null;
  createdAt: Date;
  updatedAt: Date;
  lastUsedAt?: Date;
  state: unknown;
  revision: number;
}

/** Profiles: sealed browser state. `load` and `save` are the port that the browser service needs. */
export interface ProfileQueries {
  /** Throws `already_exists` when the project has a profile of that name. */
  create(scope: ProjectScope, input: { name?: string }): Promise<ProfileRecord>;
  findOrCreate(scope: ProjectScope, name: string): Promise<ProfileRecord>;
  find(scope: Scope, idOrName: string): Promise<ProfileRecord | null>;
  list(scope: Scope, page: PageRequest & { query?: string }): Promise<Page<ProfileRecord>>;
  /** Throws `already_exists` when the new name is taken. Null when there is no such profile. */
  rename(scope: Scope, idOrName: string, name: string): Promise<ProfileRecord | null>;
  /** False when there was none. */
  remove(scope: Scope, idOrName: string): Promise<boolean>;
  /** Which profile of the project a browser would open, and when it last changed. Null when there is none such. */
  lookUp(projectId: string, ref: { id: string } | { name: string }): Promise<{ id: string; updatedAt: Date } | null>;
  /** Opens a profile for a browser and notes its use. Null when the project has none such. */
  load(projectId: string, ref: { id: string } | { name: string }): Promise<LoadedProfile | null>;
  /**
   * Replaces the state by `merge(stored)` in one transaction that holds the row, so that two saves at once never lose
   * each other's changes. `merge` must be quick and synchronous. Throws `not_found` when the profile is gone.
   */
  save(projectId: string, id: string, merge: (stored: unknown) => unknown): Promise<LoadedProfile>;
}

type Row = Selectable<Database['profiles']>;

/** Where a profile's state lives. */
export function profileStatePlace(id: string): SealedPlace {
  return { table: 'profiles', column: 'sealed_state', rowId: id };
}

/** Queries of profiles. */
export function createProfileQueries(db: Db, vault: Vault, clock: () => Date): ProfileQueries {
  const inScope = (scope: Scope) => db.selectFrom('profiles').selectAll().where(withinScope(scope, 'profiles'));

  const findRow = (scope: Scope, idOrName: string): Promise<Row | undefined> =>
    findByIdOrName(inScope(scope), idOrName);

  const insert = async (scope: ProjectScope, name: string | null): Promise<Row | undefined> => {
    const now = clock();
    return whileActive(db, scope.projectId, (trx) =>
      trx
        .insertInto('profiles')
        .values({
          id: newId('prof'),
          organization_id: scope.organizationId,
          project_id: scope.projectId,
          name,
          sealed_state: null,
          revision: 0,
          created_at: now,
          updated_at: now,
          last_used_at: null,
        })
        .onConflict((conflict) => conflict.columns(['project_id', 'name']).doNothing())
        .returningAll()
        .executeTakeFirst(),
    );
  };

  const open = async (on: Db, row: Row): Promise<LoadedProfile> => ({
    id: row.id,
    name: row.name,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    ...(row.last_used_at === null ? {} : { lastUsedAt: row.last_used_at }),
    state:
      row.sealed_state === null
        ? null
        : await vault.openJson(on, row.organization_id, profileStatePlace(row.id), row.sealed_state),
    revision: row.revision,
  });

  return {
    create: async (scope, { name }) => {
      const row = await insert(scope, name ?? null);
      if (row === undefined) throw nameTaken();
      return present(row);
    },
    findOrCreate: async (scope, name) => {
      // A profile can be removed between the two looks; then the next round makes it.
      for (let attempt = 0; attempt < 3; attempt += 1) {
        const row = (await inScope(scope).where('name', '=', name).executeTakeFirst()) ?? (await insert(scope, name));
        if (row !== undefined) return present(row);
      }
      throw new HoldfastError('unavailable', 'The profile is being made and removed at the same time; try again');
    },
    find: async (scope, idOrName) => {
      const row = await findRow(scope, idOrName);
      return row === undefined ? null : present(row);
    },
    list: (scope, { query, ...page }) => {
      const ordered = inScope(scope)
        .$if(query !== undefined, (q) => q.where(containsText(sql`lower(name)`, query ?? '')))
        .orderBy('created_at', 'desc')
        .orderBy('id', 'desc');
      return readPage(ordered, page, present);
    },
    rename: async (scope, idOrName, name) => {
      const row = await findRow(scope, idOrName);
      if (row === undefined) return null;
      try {
        const renamed = await db
          .updateTable('profiles')
          .set({ name, updated_at: clock() })
          .where('id', '=', row.id)
          .returningAll()
          .executeTakeFirst();
        return renamed === undefined ? null : present(renamed);
      } catch (error) {
        throw isUniqueViolation(error) ? nameTaken() : error;
      }
    },
    remove: async (scope, idOrName) => {
      const row = await findRow(scope, idOrName);
      if (row === undefined) return false;
      const { numDeletedRows } = await db.deleteFrom('profiles').where('id', '=', row.id).executeTakeFirst();
      return numDeletedRows > 0n;
    },
    lookUp: async (projectId, ref) => {
      const row = await db
        .selectFrom('profiles')
        .select(['id', 'updated_at'])
        .where('project_id', '=', projectId)
        .where((eb) => ('id' in ref ? eb('id', '=', ref.id) : eb('name', '=', ref.name)))
        .executeTakeFirst();
      return row === undefined ? null : { id: row.id, updatedAt: row.updated_at };
    },
    load: async (projectId, ref) => {
      const row = await db
        .updateTable('profiles')
        .set({ last_used_at: clock() })
        .where('project_id', '=', projectId)
        .where((eb) => ('id' in ref ? eb('id', '=', ref.id) : eb('name', '=', ref.name)))
        .returningAll()
        .executeTakeFirst();
      return row === undefined ? null : open(db, row);
    },
    save: (projectId, id, merge) =>
      db.transaction().execute(async (trx) => {
        const row = await trx
          .selectFrom('profiles')
          .selectAll()
          .where('project_id', '=', projectId)
          .where('id', '=', id)
          .forUpdate()
          .executeTakeFirst();
        if (row === undefined) throw new HoldfastError('not_found', 'The profile was deleted; make it again');
        const stored = await open(trx, row);
        const state = merge(stored.state);
        const saved = await trx
          .updateTable('profiles')
          .set({
            sealed_state: await vault.sealJson(trx, row.organization_id, profileStatePlace(id), state),
            revision: row.revision + 1,
            updated_at: clock(),
          })
          .where('id', '=', id)
          .returning(['revision', 'updated_at'])
          .executeTakeFirstOrThrow();
        return { ...stored, state: state ?? null, revision: saved.revision, updatedAt: saved.updated_at };
      }),
  };
}

function present(row: Row): ProfileRecord {
  return {
    id: row.id,
    projectId: row.project_id,
    name: row.name,
    revision: row.revision,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    lastUsedAt: row.last_used_at,
  };
}

function nameTaken(): HoldfastError {
  return new HoldfastError('already_exists', 'The project has a profile of that `name`; choose another name');
}
