import { sql, type Migration } from 'kysely';

/** Videos of connections' sessions, fetched from the browser service before a session ends. */
export const recordings: Migration = {
  up: async (db) => {
    for (const statement of statements) await sql.raw(statement).execute(db);
  },
};

const statements = [
  `create table recordings (
    id text primary key,
    organization_id text not null references organizations,
    project_id text not null references projects,
    connection_id text not null,
    session_id text not null,
    bytes integer not null,
    started_at timestamptz not null,
    finished_at timestamptz not null,
    expires_at timestamptz not null
  )`,
  `create index recordings_session on recordings (project_id, session_id)`,
  `create index recordings_connection on recordings (connection_id)`,
  `create index recordings_expiry on recordings (expires_at)`,
  `create table recording_parts (
    id text primary key,
    organization_id text not null references organizations,
    recording_id text not null references recordings on delete cascade,
    number integer not null,
    sealed_part bytea not null
  )`,
  `create unique index recording_parts_order on recording_parts (recording_id, number)`,
];
