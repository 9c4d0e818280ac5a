import { basename, extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { build, type Plugin } from 'esbuild';

/** A file of the console, precompressed, in base64. Its name contains a content hash. */
export interface BuiltFile {
  name: string;
  type: string;
  brotli: string;
  gzip: string;
}

/** The console's files, and the ones its document references. */
export interface BuiltConsole {
  files: BuiltFile[];
  script: string;
  style: string;
  /** Chunks the script needs immediately, preloaded in parallel. */
  preloads: string[];
}

const TYPES: Record<string, string> = { '.js': 'text/javascript; charset=utf-8', '.css': 'text/css; charset=utf-8' };
/** Browsers since 2022. */
const BROWSERS = ['chrome100', 'firefox100', 'safari15.4'];

/** The component kit ships about thirty languages; the console uses two. */
const ownLanguages: Plugin = {
  name: 'own-languages',
  setup(bundler) {
    bundler.onLoad({ filter: /private\/intl\/.*\/[a-z]{2}-[A-Z]{2}\.mjs$/ }, ({ path }) =>
      /(en-US|de-DE)\.mjs$/.test(path) ? undefined : { contents: 'export default {};' },
    );
  },
};

/** Bundles `console/`, with each page as its own chunk. Rejects with the build error. */
export default async function bundleConsole(): Promise<BuiltConsole> {
  const source = (file: string): string => fileURLToPath(new URL(`../../console/${file}`, import.meta.url));
  const { outputFiles, metafile } = await build({
    entryPoints: { main: source('main.tsx'), console: source('style/console.css') },
    outdir: '/console',
    entryNames: '[name]-[hash]',
    chunkNames: 'part-[hash]',
    bundle: true,
    splitting: true,
    write: false,
    metafile: true,
    minify: true,
    format: 'esm',
    target: BROWSERS,
    charset: 'utf8',
    legalComments: 'none',
    jsx: 'automatic',
    define: { 'process.env.NODE_ENV': '"production"' },
    plugins: [ownLanguages],
    logLevel: 'silent',
  });
  const names = outputFiles.map(({ path }) => basename(path));
  const named = (start: string): string => names.find((name) => name.startsWith(start)) ?? '';
  const script = named('main-');
  const main = Object.entries(metafile.outputs).find(([path]) => basename(path) === script)?.[1];
  return {
    files: outputFiles.map(({ path, contents }) => ({
      name: basename(path),
      type: TYPES[extname(path)] ?? 'application/octet-stream',
      brotli: brotliCompressSync(contents, {
        params: { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY },
      }).toString('base64'),
      gzip: gzipSync(contents, { level: 9 }).toString('base64'),
    })),
    script,
    style: named('console-'),
    preloads: (main?.imports ?? []).filter(({ kind }) => kind === 'import-statement').map(({ path }) => basename(path)),
  };
}
