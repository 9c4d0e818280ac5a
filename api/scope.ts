import { isUtf8 } from 'node:buffer';
import type { IncomingHttpHeaders } from 'node:http';
import { HoldfastError } from '../contract/errors.ts';
import type { ApiKeyRecord } from '../store/queries/api-keys.ts';
import type { ProjectRecord } from '../store/queries/projects.ts';
import type { ProjectScope, Scope } from '../store/scope.ts';
import type { ApiDeps } from './context.ts';
import { requireProjects } from './organization/entitlements.ts';
import { requireFound } from './nullish.ts';

type Store = Pick<ApiDeps['store'], 'projects'>;

/** Headers that select the project of a request: by id, or by name or id. */
const PROJECT_HEADERS = ['x-kernel-project-id', 'x-kernel-project'] as const;
/** Headers of the interface that only identify the client. Any other would change what a request means, so it is rejected. */
const INFORMATIVE = /^x-kernel-(client|cli|sdk|source|user-agent|request-id|trace)/;

/**
 * The effective scope of a request: the key's scope, narrowed to the project in its headers. The only place that creates scopes.
 * Throws `not_found` for an unknown or archived project, `forbidden` for a project outside the key's, `bad_request` for
 * conflicting or unknown headers, `projects_disabled` if projects are disabled (a project's key still stays within its project).
 */
export async function resolveScope(
  deps: Pick<ApiDeps, 'store' | 'settings'>,
  key: Pick<ApiKeyRecord, 'organizationId' | 'projectId' | 'projectArchivedAt'>,
  headers: IncomingHttpHeaders,
): Promise<Scope> {
  rejectUnknownHeaders(headers);
  const organization = { organizationId: key.organizationId, projectId: null };
  const named = PROJECT_HEADERS.map((name) => [name, headerText([headers[name]].flat()[0] ?? '')] as const).filter(
    ([, value]) => value !== '',
  );
  if (named.length > 0) await requireProjects(deps, key.organizationId);
  const chosen: ProjectRecord[] = [];
  for (const [name, value] of named)
    chosen.push(await findProject(deps.store, organization, value, name === 'x-kernel-project'));
  const [project, other] = chosen;
  if (project === undefined) {
    requireActive(key.projectArchivedAt);
    return { organizationId: key.organizationId, projectId: key.projectId };
  }
  if (other !== undefined && other.id !== project.id) {
    throw new HoldfastError(
      'bad_request',
      'X-Kernel-Project-Id and X-Kernel-Project name different projects; send one',
    );
  }
  if (key.projectId !== null && key.projectId !== project.id) {
    throw new HoldfastError('forbidden', 'This key is for another project; use a key of the requested project');
  }
  requireActive(project.archivedAt);
  return { organizationId: key.organizationId, projectId: project.id };
}

/**
 * The text of a header. Node decodes headers as Latin-1, which browsers and Node's own clients send; others (curl, Go) send
 * UTF-8, so bytes that are valid UTF-8 are decoded as UTF-8.
 */
function headerText(value: string): string {
  const bytes = Buffer.from(value, 'latin1');
  return isUtf8(bytes) ? bytes.toString('utf8') : value;
}

function requireActive(archivedAt: Date | null): void {
  if (archivedAt === null) return;
  throw new HoldfastError(
    'not_found',
    'The project is archived; PATCH /org/projects/{id} with status "active" to restore it',
  );
}

/** Message for a project that does not exist or is out of the caller's scope. */
export const PROJECT_NOT_FOUND = 'Project not found; list the projects with GET /org/projects';

/**
 * A project by its id or, if `byName`, its name. Throws `not_found`, and `bad_request` for a name that several projects share.
 */
export async function findProject(store: Store, scope: Scope, wanted: string, byName: boolean): Promise<ProjectRecord> {
  const byId = await store.projects.find(scope, wanted);
  if (byId !== null) return byId;
  const inScope = (await store.projects.list(scope.organizationId)).filter(
    ({ id, name }) => byName && name === wanted && (scope.projectId === null || scope.projectId === id),
  );
  const [project, another] = inScope;
  if (another !== undefined) {
    throw new HoldfastError('bad_request', 'Several projects have this name; use the id');
  }
  return requireFound(project, PROJECT_NOT_FOUND);
}

/**
 * Finds a resource by id or name; null if there is none. Names are unique only within a project, so a request without a project
 * looks in the default project first, then for an id in the whole organization.
 */
export async function findInDefaultProject<Found>(
  store: Store,
  scope: Scope,
  find: (scope: Scope) => Promise<Found | null>,
): Promise<Found | null> {
  const inDefault = scope.projectId === null ? await find(await writeScope(store, scope)) : null;
  return inDefault ?? (await find(scope));
}

/** The resource with this id or name, and its project. Throws `not_found` with `message`. */
export async function findByIdOrName<Found extends { projectId: string }>(
  store: Store,
  scope: Scope,
  find: (scope: Scope) => Promise<Found | null>,
  message: string,
): Promise<{ record: Found; project: ProjectScope }> {
  const record = requireFound(await findInDefaultProject(store, scope, find), message);
  return { record, project: { organizationId: scope.organizationId, projectId: record.projectId } };
}

/** The project that a request writes to: the selected one, or the organization's default. */
export async function writeScope(store: Store, scope: Scope): Promise<ProjectScope> {
  const projectId = scope.projectId ?? (await store.projects.defaultOf(scope.organizationId)).id;
  return { organizationId: scope.organizationId, projectId };
}

/** The ids of the projects that a request reads from, the one it writes to first. */
export async function readableProjects(store: Store, scope: Scope): Promise<string[]> {
  if (scope.projectId !== null) return [scope.projectId];
  return (await store.projects.list(scope.organizationId)).map(({ id }) => id);
}

function rejectUnknownHeaders(headers: IncomingHttpHeaders): void {
  const known: readonly string[] = PROJECT_HEADERS;
  const unknown = Object.keys(headers).find(
    (name) => name.startsWith('x-kernel-') && !known.includes(name) && !INFORMATIVE.test(name),
  );
  if (unknown === undefined) return;
  throw new HoldfastError('bad_request', `Header ${unknown} is not supported; omit it or use X-Kernel-Project`);
}
