import { type ComponentType, lazy } from 'react';
import type { Role } from '../contract/people.ts';
import { shellWords } from './words/shell.ts';

/**
 * Every page of the console. To add one:
 *
 * 1. Write `pages/<name>.tsx`, whose default export is the page: `<Page title …>` around components of `parts/` (`ListTable`,
 *   `Loaded` and `Facts`, `FormButton` with inputs, `ActionButton` and `ConfirmButton` with `useAction`). `pages/proxies.tsx` is
 *   a model: a list with a form, and the page of one resource. Path parameters are passed as props.
 * 2. Define its texts in both languages: `const words = inLanguage({ en: {…}, de: {…} })`. The types require the same keys in
 *   both.
 * 3. Call the API with `call('POST', '/proxies', body)`; import the types of responses from `contract/`. To refetch what a call
 * changes, use `client.invalidateQueries({ queryKey: ['/proxies'] })`: query keys start with the path.
 * 4. Add an entry here, with `editRole` and `viewRole` if they differ from the defaults, and `nav` (from `words/shell.ts`) to
 * show it in the menu.
 *
 * Each page is a separate bundle, fetched when it is opened. Everything a page does is a public API operation.
 */
export interface PageEntry {
  /** Relative to `/console`; `:id` becomes the prop `id`. */
  path: string;
  /** Label in the menu. */
  nav?: string;
  /** Role required to change anything: people with a lower role see no buttons or forms. Default `operator`. */
  editRole?: Role;
  /** Role required to open the page. Default: anyone. */
  viewRole?: Role;
  page: ComponentType<{ id: string }>;
}

/** Loads the overview, where most visits start; also prefetched before it is shown. */
export const fetchOverview = () => import('./pages/overview.tsx');

export const PAGES: readonly PageEntry[] = [
  { path: '/', nav: shellWords.overview, page: lazy(fetchOverview) },
  { path: '/account', editRole: 'viewer', page: lazy(() => import('./pages/account.tsx')) },
  { path: '/connections', nav: shellWords.connections, page: lazy(() => import('./pages/connections.tsx')) },
  { path: '/connections/:id', page: lazy(() => import('./pages/connection.tsx')) },
  { path: '/connections/:id/settings', page: lazy(() => import('./pages/connection-settings.tsx')) },
  {
    path: '/browsers',
    nav: shellWords.browsers,
    viewRole: 'operator',
    page: lazy(() => import('./pages/browsers.tsx')),
  },
  { path: '/browsers/:id', viewRole: 'operator', page: lazy(() => import('./pages/browser.tsx')) },
  { path: '/profiles', nav: shellWords.profiles, page: lazy(() => import('./pages/profiles.tsx')) },
  { path: '/profiles/:id', page: lazy(async () => ({ default: (await import('./pages/profiles.tsx')).ProfilePage })) },
  { path: '/credentials', nav: shellWords.credentials, page: lazy(() => import('./pages/credentials.tsx')) },
  {
    path: '/credentials/:id',
    page: lazy(async () => ({ default: (await import('./pages/credentials.tsx')).CredentialPage })),
  },
  {
    path: '/providers',
    nav: shellWords.providers,
    editRole: 'owner',
    page: lazy(() => import('./pages/providers.tsx')),
  },
  { path: '/code-sources', nav: shellWords.codeSources, page: lazy(() => import('./pages/code-sources.tsx')) },
  { path: '/proxies', nav: shellWords.proxies, page: lazy(() => import('./pages/proxies.tsx')) },
  { path: '/proxies/:id', page: lazy(async () => ({ default: (await import('./pages/proxies.tsx')).ProxyPage })) },
  {
    path: '/browser-pools',
    nav: shellWords.pools,
    viewRole: 'operator',
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
  { path: '/keys', nav: shellWords.keys, editRole: 'owner', page: lazy(() => import('./pages/keys.tsx')) },
  { path: '/members', nav: shellWords.members, editRole: 'owner', page: lazy(() => import('./pages/members.tsx')) },
  { path: '/projects', nav: shellWords.projects, editRole: 'owner', page: lazy(() => import('./pages/projects.tsx')) },
  { path: '/limits', nav: shellWords.limits, editRole: 'owner', page: lazy(() => import('./pages/limits.tsx')) },
  { path: '/programs', nav: shellWords.programs, editRole: 'viewer', page: lazy(() => import('./pages/programs.tsx')) },
  { path: '/audit-log', nav: shellWords.auditLog, page: lazy(() => import('./pages/audit-log.tsx')) },
  { path: '/audit-log/destinations', editRole: 'owner', page: lazy(() => import('./pages/destinations.tsx')) },
];
