import { sql, type Selectable } from 'kysely';
import { HoldfastError } from '../../contract/errors.ts';
import { newId } from '../../contract/ids.ts';
import { rejectDuplicate, type Db } from '../database.ts';
import type { Database } from '../schema.ts';
import {
  affectsRow,
  containsText,
  findByIdOrName,
  findOne,
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

/** A profile, without its state. POST /profiles does not require a name. */
export interface ProfileRecord {
  id: string;
  projectId: string;
  name: string | null;
  revision: number;
  createdAt: Date;
  updatedAt: Date;
  lastUsedAt: Date | null;
}

/** A profile with its decrypted state; `state` is null before the first save. */
interface LoadedProfile {
  id: string;
  name: string | null;
  createdAt: Date;
  updatedAt: Date;
  lastUsedAt?: Date;
  state: unknown;
  revision: number;
}

/** Profiles: sealed browser state. The browser service uses `lookUp`, `load` and `save`. */
export interface ProfileQueries {
  /** Throws `already_exists` if the project has a profile with that name. */
  create(scope: ProjectScope, input: { name?: string }): Promise<ProfileRecord>;
  findOrCreate(scope: ProjectScope, name: string): Promise<ProfileRecord>;
  find(scope: Scope, idOrName: string): Promise<ProfileRecord | null>;
  list(scope: Scope, page: PageRequest & { query?: string }): Promise<Page<ProfileRecord>>;
  /** Throws `already_exists` if the new name is taken. Null if there is no such profile. */
  rename(scope: Scope, idOrName: string, name: string): Promise<ProfileRecord | null>;
  /** False if there was none. */
  remove(scope: Scope, idOrName: string): Promise<boolean>;
  /** The profile of the project that a browser would open, and when it last changed. Null if there is none. */
  lookUp(projectId: string, ref: { id: string } | { name: string }): Promise<{ id: string; updatedAt: Date } | null>;
  /** Opens a profile for a browser and records the use. Null if the project has no such profile. */
  load(projectId: string, ref: { id: string } | { name: string }): Promise<LoadedProfile | null>;
  /**
   * Replaces the state with `merge(stored)` under the row's lock, so that concurrent saves never lose each other's
   * changes. `merge` must be fast. Throws `not_found` if the profile was deleted.
   */
  save(projectId: string, id: string, merge: (stored: unknown) => unknown): Promise<LoadedProfile>;
}

type Row = Selectable<Database['profiles']>;

const NAME_TAKEN = 'name: the project already has a profile with this name; choose another';

function statePlace(id: string): SealedPlace {
  return { table: 'profiles', column: 'sealed_state', rowId: id };
}

/** Queries of profiles. */
export function createProfileQueries(db: Db, vault: Vault, clock: () => Date): ProfileQueries {
  const inScope = (scope: Scope) => db.selectFrom('profiles').selectAll().where(withinScope(scope, 'profiles'));

  const findRow = (scope: Scope, idOrName: string): Promise<Row | undefined> =>
    findByIdOrName(inScope(scope), idOrName);

  const insert = async (scope: ProjectScope, name: string | null): Promise<Row | undefined> => {
    const now = clock();
    return withActiveProject(db, scope.projectId, (trx) =>
      trx
        .insertInto('profiles')
        .values({
          id: newId('prof'),
          ...ownerColumns(scope),
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
        : await vault.openJson(on, row.organization_id, statePlace(row.id), row.sealed_state),
    revision: row.revision,
  });

  return {
    create: async (scope, { name }) => {
      const row = await insert(scope, name ?? null);
      if (row === undefined) throw new HoldfastError('already_exists', NAME_TAKEN);
      return present(row);
    },
    findOrCreate: async (scope, name) => {
      // The profile can be removed between the two queries; then the next attempt creates it.
      for (let attempt = 0; attempt < 3; attempt += 1) {
        const row = (await inScope(scope).where('name', '=', name).executeTakeFirst()) ?? (await insert(scope, name));
        if (row !== undefined) return present(row);
      }
      throw new HoldfastError('unavailable', 'The profile is being created and deleted concurrently; try again');
    },
    find: async (scope, idOrName) => {
      const row = await findRow(scope, idOrName);
      return row === undefined ? null : present(row);
    },
    list: (scope, { query, ...page }) =>
      readNewest(inScope(scope).where(containsText(sql`lower(name)`, query)), page, present),
    rename: async (scope, idOrName, name) => {
      const row = await findRow(scope, idOrName);
      if (row === undefined) return null;
      const update = db.updateTable('profiles').set({ name, updated_at: clock() }).where('id', '=', row.id);
      return rejectDuplicate(findOne(update.returningAll(), present), NAME_TAKEN);
    },
    remove: async (scope, idOrName) => {
      const row = await findRow(scope, idOrName);
      return row !== undefined && affectsRow(db.deleteFrom('profiles').where('id', '=', row.id));
    },
    lookUp: (projectId, ref) =>
      findOne(
        db
          .selectFrom('profiles')
          .select(['id', 'updated_at as updatedAt'])
          .where('project_id', '=', projectId)
          .where((eb) => eb.and(ref)),
        (row) => row,
      ),
    load: async (projectId, ref) => {
      const row = await db
        .updateTable('profiles')
        .set({ last_used_at: clock() })
        .where('project_id', '=', projectId)
        .where((eb) => eb.and(ref))
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
        if (row === undefined) throw new HoldfastError('not_found', 'The profile was deleted; create it again');
        const stored = await open(trx, row);
        const state = merge(stored.state);
        const saved = await trx
          .updateTable('profiles')
          .set({
            sealed_state: await vault.sealJson(trx, row.organization_id, statePlace(id), state),
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
