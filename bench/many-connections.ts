import pg from 'pg';
import type { ConnectionDocument } from '../contract/document.ts';
import { newId } from '../contract/ids.ts';
import { clientConfig } from '../store/database.ts';
import type { StoreConnection } from '../store/store.ts';
import { DEFAULT_ORGANIZATION_ID, DEFAULT_PROJECT_ID } from '../store/store.ts';

const BATCH = 1_000;

/** Inserts `count` logged-in connections into a store; returns their ids. */
export async function fillStore(connection: StoreConnection, count: number): Promise<string[]> {
  const client = new pg.Client(clientConfig(connection));
  await client.connect();
  const ids: string[] = [];
  try {
    for (let first = 0; first < count; first += BATCH) {
      const rows = Array.from({ length: Math.min(BATCH, count - first) }, (_each, index) => documentOf(first + index));
      await client.query(
        `insert into connections
           (id, organization_id, project_id, profile_name, domain, search, document, revision, created_at, updated_at)
         select id, $1, $2, profile, domain, domain || E'\\n' || profile, document::json, 3, at::timestamptz, at::timestamptz
         from unnest($3::text[], $4::text[], $5::text[], $6::text[], $7::text[]) as row (id, profile, domain, document, at)`,
        [
          DEFAULT_ORGANIZATION_ID,
          DEFAULT_PROJECT_ID,
          rows.map((row) => row.id),
          rows.map((row) => row.settings.profile_name),
          rows.map((row) => row.settings.domain),
          rows.map((row) => JSON.stringify(row)),
          rows.map((row) => row.created_at),
        ],
      );
      ids.push(...rows.map((row) => row.id));
    }
    await client.query('analyze connections');
  } finally {
    await client.end();
  }
  return ids;
}

function documentOf(index: number): ConnectionDocument {
  const at = new Date(Date.UTC(2026, 0, 1) + index * 1000).toISOString();
  return {
    schema_version: 1,
    id: newId('sub').replace(/^sub/, 'conn'),
    organization_id: DEFAULT_ORGANIZATION_ID,
    project_id: DEFAULT_PROJECT_ID,
    revision: 3,
    created_at: at,
    settings: {
      domain: `site-${index % 1000}.example.com`,
      profile_name: `profile-${index}`,
      auto_reauth: true,
      health_check_interval: 3600,
      health_checks: true,
      record_session: false,
      save_credentials: true,
    },
    status: 'AUTHENTICATED',
    post_login_url: `https://site-${index % 1000}.example.com/account`,
    can_reauth: true,
    can_reauth_reason: 'has_credential',
    last_auth_check_at: at,
    flow: null,
  };
}
