import { type ComponentType, lazy } from 'react';
import type { Role } from '../contract/people.ts';
import { shellWords } from './words/shell.ts';

/**
 * Every page of the console. To add one:
 *
 * 1. Write `pages/<name>.tsx`, whose default export is the page: `<Page title …>` around building blocks of `parts/`
 *    (`ListTable`, `Loaded` and `Facts`, `FormButton` with inputs, `ActionButton` and `ConfirmButton` over `useAction`). `pages/proxies.tsx` is a model of a
 *    list with a form, `pages/proxy.tsx` of one resource. Parts of the path come in as properties by their names.
 * 2. Put its words beside it, in both languages: `const words = inLanguage({ en: {…}, de: {…} })`. The types hold both tables to
 *    the same keys.
 * 3. Call the API by `call('POST', '/proxies', body)`; answers have types of `contract/`, imported as types alone. What a
 *    call changes is read again by `client.invalidateQueries({ queryKey: ['/proxies'] })`: the key of a read begins with its path.
 * 4. Add an entry here, with `acts` when it takes another role than `operator`, with `reads` when
 *    not everybody may see it, with `nav` (a name in `words/shell.ts`) when the menu shall lead to it.
 *
 * A page is a part of the bundle that is fetched when it is opened. Everything it does is a public operation.
 */
export interface PageEntry {
  /** Below `/console`; `:id` becomes the property `id`. */
  path: string;
  /** Its name in the menu. */
  nav?: string;
  /** The role that what can be done on it takes: those with less are offered none of it. `operator` where nothing is said. */
  acts?: Role;
  /** The role that reading it takes: those with less are not led to it. Anybody's where nothing is said. */
  reads?: Role;
  page: ComponentType<{ id: string }>;
}

/** Fetches the overview, by which most come in; also before it is shown. */
export const fetchOverview = () => import('./pages/overview.tsx');

export const PAGES: readonly PageEntry[] = [
  { path: '/', nav: shellWords.overview, page: lazy(fetchOverview) },
  { path: '/account', acts: 'viewer', page: lazy(() => import('./pages/account.tsx')) },
  { path: '/connections', nav: shellWords.connections, page: lazy(() => import('./pages/connections.tsx')) },
  { path: '/connections/:id', page: lazy(() => import('./pages/connection.tsx')) },
  { path: '/connections/:id/settings', page: lazy(() => import('./pages/connection-settings.tsx')) },
  { path: '/browsers', nav: shellWords.browsers, reads: 'operator', page: lazy(() => import('./pages/browsers.tsx')) },
  { path: '/browsers/:id', reads: 'operator', page: lazy(() => import('./pages/browser.tsx')) },
  { path: '/profiles', nav: shellWords.profiles, page: lazy(() => import('./pages/profiles.tsx')) },
  { path: '/profiles/:id', page: lazy(async () => ({ default: (await import('./pages/profiles.tsx')).ProfilePage })) },
  { path: '/credentials', nav: shellWords.credentials, page: lazy(() => import('./pages/credentials.tsx')) },
  {
    path: '/credentials/:id',
    page: lazy(async () => ({ default: (await import('./pages/credentials.tsx')).CredentialPage })),
  },
  { path: '/providers', nav: shellWords.providers, acts: 'owner', page: lazy(() => import('./pages/providers.tsx')) },
  { path: '/code-sources', nav: shellWords.codeSources, page: lazy(() => import('./pages/code-sources.tsx')) },
  { path: '/proxies', nav: shellWords.proxies, page: lazy(() => import('./pages/proxies.tsx')) },
  { path: '/proxies/:id', page: lazy(async () => ({ default: (await import('./pages/proxies.tsx')).ProxyPage })) },
  {
    path: '/browser-pools',
    nav: shellWords.pools,
    reads: 'operator',
    page: lazy(() => import('./pages/browser-pools.tsx')),
  },
  { path: '/extensions', nav: shellWords.extensions, page: lazy(() => import('./pages/extensions.tsx')) },
  { path: '/apps', nav: shellWords.apps, page: lazy(() => import('./pages/apps.tsx')) },
  { path: '/apps/:id', page: lazy(async () => ({ default: (await import('./pages/apps.tsx')).AppPage })) },
  { path: '/deployments', nav: shellWords.deployments, page: lazy(() => import('./pages/deployments.tsx')) },
  {
    path: '/deployments/:id',
    page: lazy(async () => ({ default: (await import('./pages/deployments.tsx')).DeploymentPage })),
  },
  { path: '/invocations', nav: shellWords.invocations, page: lazy(() => import('./pages/invocations.tsx')) },
  {
    path: '/invocations/:id',
    page: lazy(async () => ({ default: (await import('./pages/invocations.tsx')).InvocationPage })),
  },
  { path: '/webhooks', nav: shellWords.webhooks, page: lazy(() => import('./pages/webhooks.tsx')) },
  { path: '/webhooks/:id', page: lazy(async () => ({ default: (await import('./pages/webhooks.tsx')).WebhookPage })) },
  { path: '/keys', nav: shellWords.keys, acts: 'owner', page: lazy(() => import('./pages/keys.tsx')) },
  { path: '/members', nav: shellWords.members, acts: 'owner', page: lazy(() => import('./pages/members.tsx')) },
  { path: '/projects', nav: shellWords.projects, acts: 'owner', page: lazy(() => import('./pages/projects.tsx')) },
  { path: '/limits', nav: shellWords.limits, acts: 'owner', page: lazy(() => import('./pages/limits.tsx')) },
  { path: '/programs', nav: shellWords.programs, acts: 'viewer', page: lazy(() => import('./pages/programs.tsx')) },
  { path: '/audit-log', nav: shellWords.auditLog, page: lazy(() => import('./pages/audit-log.tsx')) },
  { path: '/audit-log/destinations', acts: 'owner', page: lazy(() => import('./pages/destinations.tsx')) },
];
