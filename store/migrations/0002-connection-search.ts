import { sql, type Kysely, type Migration } from 'kysely';
import type { Database } from '../schema.ts';

/** Rows that are read at a time. */
const BATCH = 500;

/** Finds connections by a part of a name, and by the credential that they use, without walking all of them. */
export const connectionSearch: Migration = {
  up: async (db: Kysely<Database>) => {
    await sql`alter table connections add column credential_name text`.execute(db);
    await fillCredentialNames(db);
    await sql`create index connections_credential on connections (project_id, credential_name)
      where deleted_at is null and credential_name is not null`.execute(db);
    await sql.raw(TRIGRAM_INDEX).execute(db);
  },
};

/**
 * A database whose owner may not create the extension, or that lacks it, still works: searches walk an index in order then.
 * docs/operations.md says how to add it later.
 */
const TRIGRAM_INDEX = `do $$ begin
  create extension if not exists pg_trgm;
  create index connections_search on connections using gin (search gin_trgm_ops) where deleted_at is null;
exception when insufficient_privilege or feature_not_supported or undefined_file or undefined_object then
  raise notice 'pg_trgm cannot be had here: searches by a part of a name will be slow over many connections';
end $$`;

/** In code, because Postgres refuses to look into a document that holds what a page may say (NUL, lone surrogates). */
async function fillCredentialNames(db: Kysely<Database>): Promise<void> {
  for (let after = ''; ;) {
    const rows = await db
      .selectFrom('connections')
      .select(['id', 'document'])
      .where('id', '>', after)
      .where('deleted_at', 'is', null)
      .orderBy('id')
      .limit(BATCH)
      .execute();
    for (const { id, document } of rows) {
      const name = document.settings.credential?.name;
      if (name === undefined) continue;
      await db.updateTable('connections').set({ credential_name: name }).where('id', '=', id).execute();
    }
    const last = rows.at(-1);
    if (last === undefined) return;
    after = last.id;
  }
}
