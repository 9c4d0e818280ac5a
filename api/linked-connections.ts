import type { ConnectionRow } from '../store/queries/connections.ts';
import type { ProjectScope } from '../store/scope.ts';
import type { ApiDeps } from './context.ts';

/** Rows that are read at a time. */
const BATCH = 500;

/** Every connection of a project that uses the credential of that name. */
export async function connectionsWithCredential(
  store: ApiDeps['store'],
  scope: ProjectScope,
  credentialName: string,
): Promise<ConnectionRow[]> {
  const linked: ConnectionRow[] = [];
  for (let offset = 0; ; offset += BATCH) {
    const page = await store.connections.list(scope, { limit: BATCH, offset });
    linked.push(...page.rows.filter(({ document }) => document.settings.credential?.name === credentialName));
    if (!page.hasMore) return linked;
  }
}

/** One connection that uses the profile of that name, or null. */
export async function connectionWithProfile(
  store: ApiDeps['store'],
  scope: ProjectScope,
  profileName: string,
): Promise<ConnectionRow | null> {
  const page = await store.connections.list(scope, { limit: 1, offset: 0, profileName });
  return page.rows[0] ?? null;
}
