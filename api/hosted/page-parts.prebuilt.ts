import { bundlePage, type PageBundle } from '../../http/bundle-page.ts';

/** Bundles the login page for browsers. Rejects with the build error. */
export default function bundleParts(): Promise<PageBundle> {
  return bundlePage(new URL('page/', import.meta.url));
}
