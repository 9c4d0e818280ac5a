import { bundlePage, type PageBundle } from '../../http/bundle-page.ts';

/** The live view's page, bundled for browsers. Rejects with compile errors. */
export default function bundleParts(): Promise<PageBundle> {
  return bundlePage(new URL('page/', import.meta.url));
}
