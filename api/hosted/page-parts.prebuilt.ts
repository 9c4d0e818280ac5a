import { bundlePage, type PageBundle } from '../../http/bundle-page.ts';

/** The page that people log in with, bundled for browsers. Rejects with the fault in its code. */
export default function bundleParts(): Promise<PageBundle> {
  return bundlePage(new URL('page/', import.meta.url));
}
