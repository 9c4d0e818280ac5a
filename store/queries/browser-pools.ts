import type { Selectable } from 'kysely';
import type { BrowserPoolConfig } from '../../contract/browser-pools.ts';
import { HoldfastError } from '../../contract/errors.ts';
import { newId } from '../../contract/ids.ts';
import { rejectDuplicate, type Db } from '../database.ts';
import type { Database } from '../schema.ts';
import { ownerColumns } from '../scope.ts';
import { withActiveProject } from './projects.ts';

/** The settings of a pool. `profileId` and `extensionIds` are resolved from its configuration. */
interface PoolDefinition {
  name: string | null;
  config: BrowserPoolConfig;
  profileId: string | null;
  extensionIds: string[];
}

/** A browser pool. */
interface BrowserPoolRecord extends PoolDefinition {
  id: string;
  projectId: string;
  createdAt: Date;
}

/** Browser pools. Only the browser service reads and writes them. */
export interface BrowserPoolQueries {
  /** The pools of all projects, oldest first. */
  all(): Promise<BrowserPoolRecord[]>;
  /** Throws `already_exists` if the project has a pool with that name, `not_found` if there is no such project. */
  create(projectId: string, definition: PoolDefinition): Promise<BrowserPoolRecord>;
  /** Throws `already_exists` if the name is taken, `not_found` if there is no such pool. */
  update(projectId: string, id: string, definition: PoolDefinition): Promise<BrowserPoolRecord>;
  remove(projectId: string, id: string): Promise<void>;
}

const NAME_TAKEN = 'name: the project already has a browser pool with this name; choose another';

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
      if (project === undefined) throw new HoldfastError('not_found', 'The project does not exist; check its id');
      const insert = withActiveProject(db, projectId, (trx) =>
        trx
          .insertInto('browser_pools')
          .values({
            id: newId('pool'),
            ...ownerColumns({ organizationId: project.organization_id, projectId }),
            ...columnsOf(definition),
            created_at: clock(),
          })
          .returningAll()
          .executeTakeFirstOrThrow(),
      );
      return present(await rejectDuplicate(insert, NAME_TAKEN));
    },
    update: async (projectId, id, definition) => {
      const update = db
        .updateTable('browser_pools')
        .set(columnsOf(definition))
        .where('project_id', '=', projectId)
        .where('id', '=', id)
        .returningAll();
      const row = await rejectDuplicate(update.executeTakeFirst(), NAME_TAKEN);
      if (row === undefined) throw new HoldfastError('not_found', 'The browser pool was deleted; create it again');
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
