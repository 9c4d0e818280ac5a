import type { ConnectionRow } from '../store/queries/connections.ts';
import type { ProjectScope } from '../store/scope.ts';
import type { ApiDeps } from './context.ts';

/** One connection that uses the profile of that name, or null. */
export async function connectionWithProfile(
  store: ApiDeps['store'],
  scope: ProjectScope,
  profileName: string,
): Promise<ConnectionRow | null> {
  const page = await store.connections.list(scope, { limit: 1, offset: 0, profileName });
  return page.rows[0] ?? null;
}
