import { HoldfastError } from '../contract/errors.ts';
import type { ApiKeyRecord } from '../store/queries/api-keys.ts';
import type { ProjectScope, Scope } from '../store/scope.ts';
import type { ApiDeps } from './context.ts';

/**
 * The effective scope of a request: what its key reaches, narrowed by `X-Kernel-Project-Id`. This is the only place where
 * scopes are made. A project-scoped key with another project's id is refused (403), an id that the organization does not
 * have is unknown (404).
 */
export async function resolveScope(
  store: ApiDeps['store'],
  key: Pick<ApiKeyRecord, 'organizationId' | 'projectId'>,
  projectHeader: string | undefined,
): Promise<Scope> {
  const organizationId = key.organizationId;
  if (projectHeader === undefined || projectHeader === '') return { organizationId, projectId: key.projectId };
  if (key.projectId !== null) {
    if (key.projectId !== projectHeader) {
      throw new HoldfastError('forbidden', 'X-Kernel-Project-Id names another project than the one this key is for');
    }
    return { organizationId, projectId: key.projectId };
  }
  const project = await store.projects.find({ organizationId, projectId: null }, projectHeader);
  if (project === null) throw new HoldfastError('not_found', 'X-Kernel-Project-Id: no such project');
  return { organizationId, projectId: project.id };
}

/** The project that a request writes to: the one it names, else the organization's default. */
export async function writeScope(store: ApiDeps['store'], scope: Scope): Promise<ProjectScope> {
  const projectId = scope.projectId ?? (await store.projects.defaultOf(scope.organizationId)).id;
  return { organizationId: scope.organizationId, projectId };
}
