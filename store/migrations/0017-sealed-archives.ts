import { sql, type Migration } from 'kysely';

/**
 * Archives of programs are sealed. A migration has no keys: what was kept as it is stays where it was, and the sweeper seals it
 * step by step. What no version refers to any more is null in both.
 */
export const sealedArchives: Migration = {
  up: async (db) => {
    await sql`alter table deployments add column sealed_archive bytea`.execute(db);
    // A ciphertext has nothing to compress, and rotation looks at its first bytes alone.
    await sql`alter table deployments alter column sealed_archive set storage external`.execute(db);
    await sql`alter table deployments alter column archive drop not null`.execute(db);
    await sql`alter table deployments alter column sealed_env_vars drop not null`.execute(db);
  },
};
