/**
 * What a page covers: the organization, if the person belongs to several, and the project, if one is chosen. It is part of the
 * address (`/console/o/<organization>/p/<project>/connections`), so that a link opens the same page for everyone.
 */
export interface PageScope {
  organizationId: string | null;
  /** Null for all projects. */
  projectId: string | null;
}

const ADDRESS = /^\/console(?:\/o\/([\w-]+))?(?:\/p\/([\w-]+))?(\/.*)?$/;

/** The scope and page in an address (`/connections`; empty for the overview). */
export function parseAddress(pathname: string): PageScope & { page: string } {
  const [, organizationId = null, projectId = null, page = ''] = ADDRESS.exec(pathname) ?? [];
  return { organizationId, projectId, page: page === '/' ? '' : page };
}

/** Base path of a scope. */
export function basePath({ organizationId, projectId }: PageScope): string {
  return `/console${organizationId === null ? '' : `/o/${organizationId}`}${projectId === null ? '' : `/p/${projectId}`}`;
}

const storageKey = (organizationId: string): string => `holdfast-project-${organizationId}`;

/** The project last chosen in an organization on this device; null for all. */
export function rememberedProject(organizationId: string): string | null {
  return localStorage.getItem(storageKey(organizationId));
}

/** Remembers the project to open if an address names none. */
export function rememberProject(organizationId: string, projectId: string | null): void {
  if (projectId === null) localStorage.removeItem(storageKey(organizationId));
  else localStorage.setItem(storageKey(organizationId), projectId);
}
