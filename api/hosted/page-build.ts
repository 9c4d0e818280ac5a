import { createHash } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

/** The page's script and style as they stand in its HTML, each with the CSP source that admits it and nothing else. */
export interface PageParts {
  script: string;
  scriptSource: string;
  style: string;
  styleSource: string;
}

let parts: Promise<PageParts> | null = null;

/**
 * Bundles `page/` for browsers, in memory, once per process. It runs at start-up, so a fault in the page's code stops
 * the API there and not at the first visitor.
 */
export function buildPage(): Promise<PageParts> {
  parts ??= bundle().catch((error: unknown) => {
    parts = null;
    throw error;
  });
  return parts;
}

async function bundle(): Promise<PageParts> {
  const [script, style] = await Promise.all([bundleOne('main.ts'), bundleOne('page.css')]);
  return { script, scriptSource: hashSource(script), style, styleSource: hashSource(style) };
}

async function bundleOne(file: string): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL(`page/${file}`, import.meta.url))],
    bundle: true,
    write: false,
    minify: true,
    format: 'iife',
    // Phones that still get browser updates (2021 and later).
    target: ['chrome90', 'firefox90', 'safari14.1'],
    charset: 'utf8',
    legalComments: 'none',
    logLevel: 'silent',
  });
  const [output] = outputFiles;
  if (output === undefined) throw new Error(`esbuild made nothing of the hosted page's ${file}`);
  return output.text;
}

function hashSource(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}
