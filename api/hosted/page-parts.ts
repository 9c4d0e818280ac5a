import { createHash } from 'node:crypto';
import bundlePage from './page-parts.prebuilt.ts';

/** The page's inlined script and style, each with the CSP source that allows it. */
export interface PageParts {
  script: string;
  scriptSource: string;
  style: string;
  styleSource: string;
}

let parts: Promise<PageParts> | null = null;

/** The parts, bundled once per process unless prebuilt. Rejects with the build error. */
export function loadPageParts(): Promise<PageParts> {
  parts ??= bundlePage().then(
    ({ script, style }) => ({ script, scriptSource: hashSource(script), style, styleSource: hashSource(style) }),
    (error: unknown) => {
      parts = null;
      throw error;
    },
  );
  return parts;
}

function hashSource(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}
