import { HoldfastError } from '../contract/errors.ts';
import type { Scope } from '../store/scope.ts';
import type { ApiDeps } from './context.ts';

/**
 * Finds what a path calls by id or by name. Names are unique in a project only, so a request that names no project means
 * its default one first; an id is then looked for in the whole organization. `not_found` when there is none.
 * @param what the resource, for the message.
 */
export async function findNear<Found>(
  store: ApiDeps['store'],
  scope: Scope,
  what: string,
  find: (scope: Scope) => Promise<Found | null>,
): Promise<Found> {
  const near =
    scope.projectId === null ? await store.projects.defaultOf(scope.organizationId).then(({ id }) => id) : null;
  const found = (near === null ? null : await find({ ...scope, projectId: near })) ?? (await find(scope));
  if (found === null) throw new HoldfastError('not_found', `no such ${what}`);
  return found;
}
