/**
 * What a page is of: the organization where the person belongs to several, and the project where one is chosen. It stands at the
 * head of the address (`/console/o/<organization>/p/<project>/connections`), so a link opens the same for whoever follows it.
 */
export interface PageScope {
  organizationId: string | null;
  /** Null: all projects. */
  projectId: string | null;
}

const ADDRESS = /^\/console(?:\/o\/([\w-]+))?(?:\/p\/([\w-]+))?(\/.*)?$/;

/** The scope that an address names, and its page below that (`/connections`; empty for the overview). */
export function parseAddress(pathname: string): PageScope & { page: string } {
  const [, organizationId = null, projectId = null, page = ''] = ADDRESS.exec(pathname) ?? [];
  return { organizationId, projectId, page: page === '/' ? '' : page };
}

/** What addresses of a scope begin with. */
export function basePath({ organizationId, projectId }: PageScope): string {
  return `/console${organizationId === null ? '' : `/o/${organizationId}`}${projectId === null ? '' : `/p/${projectId}`}`;
}

const storageKey = (organizationId: string): string => `holdfast-project-${organizationId}`;

/** The project that was last chosen in an organization on this device; null for all. */
export function rememberedProject(organizationId: string): string | null {
  return localStorage.getItem(storageKey(organizationId));
}

/** Has the console open in this project when its address names none. */
export function rememberProject(organizationId: string, projectId: string | null): void {
  if (projectId === null) localStorage.removeItem(storageKey(organizationId));
  else localStorage.setItem(storageKey(organizationId), projectId);
}
