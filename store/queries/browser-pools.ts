import type { Selectable } from 'kysely';
import type { BrowserPoolConfig } from '../../contract/browser-pools.ts';
import { HoldfastError } from '../../contract/errors.ts';
import { newId } from '../../contract/ids.ts';
import { isUniqueViolation, type Db } from '../database.ts';
import type { Database } from '../schema.ts';
import { whileActive } from './projects.ts';

/** What a pool is; `profileId` and `extensionIds` are what its configuration means. */
interface PoolDefinition {
  name: string | null;
  config: BrowserPoolConfig;
  profileId: string | null;
  extensionIds: string[];
}

/** A browser pool. */
export interface BrowserPoolRecord extends PoolDefinition {
  id: string;
  projectId: string;
  createdAt: Date;
}

/** Browser pools: the browser service fills them, and alone reads and writes them. */
export interface BrowserPoolQueries {
  /** Those of all projects, oldest first. */
  all(): Promise<BrowserPoolRecord[]>;
  /** Throws `already_exists` when the project has a pool of that name, `not_found` when there is no such project. */
  create(projectId: string, definition: PoolDefinition): Promise<BrowserPoolRecord>;
  /** Throws `already_exists` likewise, `not_found` when there is no such pool. */
  update(projectId: string, id: string, definition: PoolDefinition): Promise<BrowserPoolRecord>;
  remove(projectId: string, id: string): Promise<void>;
}

/** Queries of browser pools. */
export function createBrowserPoolQueries(db: Db, clock: () => Date): BrowserPoolQueries {
  return {
    all: async () => {
      const rows = await db.selectFrom('browser_pools').selectAll().orderBy('created_at').orderBy('id').execute();
      return rows.map(present);
    },
    create: async (projectId, definition) => {
      const project = await db
        .selectFrom('projects')
        .select('organization_id')
        .where('id', '=', projectId)
        .executeTakeFirst();
      if (project === undefined) throw new HoldfastError('not_found', 'The project does not exist');
      const row = await whileActive(db, projectId, (trx) =>
        trx
          .insertInto('browser_pools')
          .values({
            id: newId('pool'),
            organization_id: project.organization_id,
            project_id: projectId,
            ...columnsOf(definition),
            created_at: clock(),
          })
          .onConflict((conflict) => conflict.columns(['project_id', 'name']).doNothing())
          .returningAll()
          .executeTakeFirst(),
      );
      if (row === undefined) throw nameTaken();
      return present(row);
    },
    update: async (projectId, id, definition) => {
      const row = await db
        .updateTable('browser_pools')
        .set(columnsOf(definition))
        .where('project_id', '=', projectId)
        .where('id', '=', id)
        .returningAll()
        .executeTakeFirst()
        .catch((error: unknown) => {
          throw isUniqueViolation(error) ? nameTaken() : error;
        });
      if (row === undefined) throw new HoldfastError('not_found', 'The browser pool was deleted');
      return present(row);
    },
    remove: async (projectId, id) => {
      await db.deleteFrom('browser_pools').where('project_id', '=', projectId).where('id', '=', id).execute();
    },
  };
}

function columnsOf({ name, config, profileId, extensionIds }: PoolDefinition) {
  return { name, config: JSON.stringify(config), profile_id: profileId, extension_ids: extensionIds };
}

function present(row: Selectable<Database['browser_pools']>): BrowserPoolRecord {
  return {
    id: row.id,
    projectId: row.project_id,
    name: row.name,
    config: row.config,
    profileId: row.profile_id,
    extensionIds: row.extension_ids,
    createdAt: row.created_at,
  };
}

function nameTaken(): HoldfastError {
  return new HoldfastError('already_exists', 'name: the project has a browser pool of this name; choose another');
}
