import { createHash } from 'node:crypto';
import type { Selectable } from 'kysely';
import { newId } from '../../contract/ids.ts';
import { rejectDuplicate, type Db } from '../database.ts';
import type { Database } from '../schema.ts';
import {
  affectsRow,
  findByIdOrName,
  matchesSearch,
  ownerColumns,
  readNewest,
  searchText,
  withinScope,
  type Page,
  type PageRequest,
  type ProjectScope,
  type Scope,
} from '../scope.ts';
import { withActiveProject } from './projects.ts';

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

type ExtensionRef = { id: string } | { name: string };

/** Browser extensions, stored as the ZIP archives that were validated. */
export interface ExtensionQueries {
  /** Throws `already_exists` if the project has an extension with that name. */
  create(scope: ProjectScope, input: { name: string | null; archive: Buffer }): Promise<ExtensionRecord>;
  find(scope: Scope, idOrName: string): Promise<ExtensionRecord | null>;
  /** Newest first. `name`: the exact name; `query`: a case-insensitive part of the name, or the whole id. */
  list(scope: Scope, filter: PageRequest & { name?: string; query?: string }): Promise<Page<ExtensionRecord>>;
  /** Its ZIP archive; null if there is no such extension. */
  archive(scope: Scope, id: string): Promise<Buffer | null>;
  /** False if there was none. Running sessions keep theirs. */
  remove(scope: Scope, id: string): Promise<boolean>;
  /** Reads the archive for a session that starts, and records the use. Null if the project has no such extension. */
  use(projectId: string, ref: ExtensionRef): Promise<{ id: string; archive: Buffer } | null>;
}

/** Everything but the archive, which may be large. */
const COLUMNS = ['id', 'project_id', 'name', 'size_bytes', 'checksum', 'created_at', 'last_used_at'] as const;

type Row = Pick<Selectable<Database['extensions']>, (typeof COLUMNS)[number]>;

/** Queries of extensions. */
export function createExtensionQueries(db: Db, clock: () => Date): ExtensionQueries {
  const inScope = (scope: Scope) => db.selectFrom('extensions').select(COLUMNS).where(withinScope(scope, 'extensions'));

  return {
    create: async (scope, { name, archive }) => {
      const insert = withActiveProject(db, scope.projectId, (trx) =>
        trx
          .insertInto('extensions')
          .values({
            id: newId('ext'),
            ...ownerColumns(scope),
            name,
            size_bytes: archive.length,
            checksum: createHash('sha256').update(archive).digest('hex'),
            archive,
            search: searchText(name ?? ''),
            created_at: clock(),
            last_used_at: null,
          })
          .returning(COLUMNS)
          .executeTakeFirstOrThrow(),
      );
      const message = 'name: the project already has an extension with this name; choose another';
      return present(await rejectDuplicate(insert, message));
    },
    find: async (scope, idOrName) => {
      const row = await findByIdOrName(inScope(scope), idOrName);
      return row === undefined ? null : present(row);
    },
    list: (scope, { limit, offset, query, ...filter }) =>
      readNewest(
        inScope(scope)
          .where((eb) => eb.and(filter))
          .where(matchesSearch(query)),
        { limit, offset },
        present,
      ),
    archive: async (scope, id) => {
      const row = await db
        .selectFrom('extensions')
        .select('archive')
        .where(withinScope(scope, 'extensions'))
        .where('id', '=', id)
        .executeTakeFirst();
      return row?.archive ?? null;
    },
    remove: (scope, id) =>
      affectsRow(db.deleteFrom('extensions').where(withinScope(scope, 'extensions')).where('id', '=', id)),
    use: async (projectId, ref) => {
      // A client that guesses by format whether it has an id or a name may send one of our ids as a name.
      const match = db
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
        .where('id', '=', match)
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
