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

/** Headers that choose the project of a request: by its id, or by its name (an id is understood, too). */
const PROJECT_HEADERS = ['x-kernel-project-id', 'x-kernel-project'] as const;
/** Headers of the interface that only say who calls. Any other would change what a request means, so it is refused. */
const INFORMATIVE = /^x-kernel-(client|cli|sdk|source|user-agent|request-id|trace)/;

/**
 * The effective scope of a request: what its key reaches, narrowed by the project that its headers name. This is the only
 * place where scopes are made. Throws `not_found` for a project that the organization does not have or has archived, `forbidden`
 * for one that the key is not for, `bad_request` for headers that disagree or that are not understood, `projects_disabled` where
 * projects are off. A key of one project stays within it there, too.
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
    throw new HoldfastError('forbidden', 'This key is for another project; use a key of the project you name');
  }
  requireActive(project.archivedAt);
  return { organizationId: key.organizationId, projectId: project.id };
}

/**
 * The text of a header. Node reads its bytes as Latin-1, which is what browsers and Node's own clients send; others (curl, Go's)
 * send UTF-8, so bytes that are UTF-8 are read as that.
 */
function headerText(value: string): string {
  const bytes = Buffer.from(value, 'latin1');
  return isUtf8(bytes) ? bytes.toString('utf8') : value;
}

function requireActive(archivedAt: Date | null): void {
  if (archivedAt === null) return;
  throw new HoldfastError(
    'not_found',
    'The project is archived; PATCH /org/projects/{id} with status "active" takes it back',
  );
}

/** What is said of a project that is not there, or not for the caller. */
export const PROJECT_NOT_FOUND = 'Project not found; list /org/projects for the ones there are';

/**
 * A project by its id, or by its name where `byName` allows it. Throws `not_found`, and `bad_request` for a name that several
 * projects have.
 */
export async function findProject(store: Store, scope: Scope, wanted: string, byName: boolean): Promise<ProjectRecord> {
  const byId = await store.projects.find(scope, wanted);
  if (byId !== null) return byId;
  const inScope = (await store.projects.list(scope.organizationId)).filter(
    ({ id, name }) => byName && name === wanted && (scope.projectId === null || scope.projectId === id),
  );
  const [project, another] = inScope;
  if (another !== undefined) {
    throw new HoldfastError('bad_request', 'Several projects have this name; name the project by its id');
  }
  return requireFound(project, PROJECT_NOT_FOUND);
}

/**
 * Finds what a path calls by id or by name; null when there is none. Names are unique in a project only, so a request that
 * names no project means its default one first; an id is then looked for in the whole organization.
 */
export async function findInDefaultProject<Found>(
  store: Store,
  scope: Scope,
  find: (scope: Scope) => Promise<Found | null>,
): Promise<Found | null> {
  const inDefault = scope.projectId === null ? await find(await writeScope(store, scope)) : null;
  return inDefault ?? (await find(scope));
}

/** The project that a request writes to: the one it names, else the organization's default. */
export async function writeScope(store: Store, scope: Scope): Promise<ProjectScope> {
  const projectId = scope.projectId ?? (await store.projects.defaultOf(scope.organizationId)).id;
  return { organizationId: scope.organizationId, projectId };
}

/** The projects that a request reads from, the one it writes to first. */
export async function readableProjects(store: Store, scope: Scope): Promise<string[]> {
  if (scope.projectId !== null) return [scope.projectId];
  return (await store.projects.list(scope.organizationId)).map(({ id }) => id);
}

function rejectUnknownHeaders(headers: IncomingHttpHeaders): void {
  const known: readonly string[] = PROJECT_HEADERS;
  const odd = Object.keys(headers).find(
    (name) => name.startsWith('x-kernel-') && !known.includes(name) && !INFORMATIVE.test(name),
  );
  if (odd === undefined) return;
  throw new HoldfastError('bad_request', `Header ${odd} is not supported; leave it out or use X-Kernel-Project`);
}
