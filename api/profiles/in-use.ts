import { HoldfastError } from '../../contract/errors.ts';
import type { ProfileRecord } from '../../store/queries/profiles.ts';
import type { ApiDeps } from '../context.ts';
import { connectionWithProfile } from '../linked-connections.ts';

/**
 * Refuses what would take a profile away from a connection: it keeps that profile logged in, by its name, and would make
 * an empty one of the same name. 422 and not 409, which clients would try again.
 */
export async function refuseInUse(
  store: ApiDeps['store'],
  organizationId: string,
  profile: ProfileRecord,
): Promise<void> {
  if (profile.name === null) return;
  const scope = { organizationId, projectId: profile.projectId };
  const user = await connectionWithProfile(store, scope, profile.name);
  if (user === null) return;
  throw new HoldfastError('operation_failed', `connection ${user.id} uses this profile; delete the connection first`);
}
