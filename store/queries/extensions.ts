import { createHash } from 'node:crypto';
import type { Selectable } from 'kysely';
import { HoldfastError } from '../../contract/errors.ts';
import { newId } from '../../contract/ids.ts';
import type { Db } from '../database.ts';
import type { Database } from '../schema.ts';
import {
  findByIdOrName,
  matchesSearch,
  readPage,
  searchText,
  withinScope,
  type Page,
  type PageRequest,
  type ProjectScope,
  type Scope,
} from '../scope.ts';
import { whileActive } from './projects.ts';

/** An extension without its archive. */
export interface ExtensionRecord {
  id: string;
  projectId: string;
  name: string | null;
  sizeBytes: number;
  /** SHA-256 of the archive, in hex. */
  checksum: string;
  createdAt: Date;
  lastUsedAt: Date | null;
}

/** What an extension is called by. */
export type ExtensionRef = { id: string } | { name: string };

/** Browser extensions, kept as the ZIP archives that they were checked as. */
export interface ExtensionQueries {
  /** Throws `already_exists` when the project has an extension of that name. */
  create(scope: ProjectScope, input: { name: string | null; archive: Buffer }): Promise<ExtensionRecord>;
  find(scope: Scope, idOrName: string): Promise<ExtensionRecord | null>;
  /** Newest first. `name`: the whole name; `query`: a part of the name in any case, or the whole id. */
  list(scope: Scope, filter: PageRequest & { name?: string; query?: string }): Promise<Page<ExtensionRecord>>;
  /** Its ZIP archive; null when there is no such extension. */
  archive(scope: Scope, id: string): Promise<Buffer | null>;
  /** False when there was none. Sessions that run keep theirs. */
  remove(scope: Scope, id: string): Promise<boolean>;
  /** Archive for a session that starts, its use noted. Null when the project has none such. */
  use(projectId: string, ref: ExtensionRef): Promise<{ id: string; archive: Buffer } | null>;
}

type Row = Omit<Selectable<Database['extensions']>, 'archive'>;

/** All but the archive, which may be large. */
const FACTS = [
  'id',
  'organization_id',
  'project_id',
  'name',
  'size_bytes',
  'checksum',
  'search',
  'created_at',
  'last_used_at',
] as const;

/** Queries of extensions. */
export function createExtensionQueries(db: Db, clock: () => Date): ExtensionQueries {
  const inScope = (scope: Scope) => db.selectFrom('extensions').select(FACTS).where(withinScope(scope, 'extensions'));

  return {
    create: async (scope, { name, archive }) => {
      const row = await whileActive(db, scope.projectId, (trx) =>
        trx
          .insertInto('extensions')
          .values({
            id: newId('ext'),
            organization_id: scope.organizationId,
            project_id: scope.projectId,
            name,
            size_bytes: archive.length,
            checksum: createHash('sha256').update(archive).digest('hex'),
            archive,
            search: searchText(name ?? ''),
            created_at: clock(),
            last_used_at: null,
          })
          .onConflict((conflict) => conflict.columns(['project_id', 'name']).doNothing())
          .returning(FACTS)
          .executeTakeFirst(),
      );
      if (row === undefined) {
        throw new HoldfastError('already_exists', 'name: the project has an extension of this name; choose another');
      }
      return present(row);
    },
    find: async (scope, idOrName) => {
      const row = await findByIdOrName(inScope(scope), idOrName);
      return row === undefined ? null : present(row);
    },
    list: (scope, { name, query, ...page }) => {
      const ordered = inScope(scope)
        .$if(name !== undefined, (q) => q.where('name', '=', name ?? ''))
        .$if(query !== undefined, (q) => q.where(matchesSearch(query ?? '')))
        .orderBy('created_at', 'desc')
        .orderBy('id', 'desc');
      return readPage(ordered, page, present);
    },
    archive: async (scope, id) => {
      const row = await db
        .selectFrom('extensions')
        .select('archive')
        .where(withinScope(scope, 'extensions'))
        .where('id', '=', id)
        .executeTakeFirst();
      return row?.archive ?? null;
    },
    remove: async (scope, id) => {
      const row = await db
        .deleteFrom('extensions')
        .where(withinScope(scope, 'extensions'))
        .where('id', '=', id)
        .returning('id')
        .executeTakeFirst();
      return row !== undefined;
    },
    use: async (projectId, ref) => {
      // A client that tells ids from names by their look calls an id of ours a name.
      const called = db
        .selectFrom('extensions')
        .select('id')
        .where('project_id', '=', projectId)
        .where((eb) =>
          'id' in ref ? eb('id', '=', ref.id) : eb.or([eb('name', '=', ref.name), eb('id', '=', ref.name)]),
        )
        .orderBy((eb) => eb('id', '=', 'id' in ref ? ref.id : ref.name))
        .limit(1);
      const row = await db
        .updateTable('extensions')
        .set({ last_used_at: clock() })
        .where('project_id', '=', projectId)
        .where('id', '=', called)
        .returning(['id', 'archive'])
        .executeTakeFirst();
      return row ?? null;
    },
  };
}

function present(row: Row): ExtensionRecord {
  return {
    id: row.id,
    projectId: row.project_id,
    name: row.name,
    sizeBytes: row.size_bytes,
    checksum: row.checksum,
    createdAt: row.created_at,
    lastUsedAt: row.last_used_at,
  };
}
