import { execFileSync } from 'node:child_process';
import { cp, mkdir, readFile, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import type { Plugin } from 'esbuild';
import { z } from 'zod';

/**
 * Compiles the sources listed on standard input, one per line, into the folder of the first argument. Each file stays a
 * separate file, so that modules find the files next to them. A file `*.prebuilt.ts` has a default export that builds something
 * from sources (a script for pages, the workflow bundle): it is called here, and the compiled module contains its result. If a
 * second argument names an already compiled folder, that one is copied instead, and declarations are added for the package.
 */
const PREBUILT = /\.prebuilt\.ts$/;
/** Runs only in browsers: a prebuilt file contains it. */
const CONSOLE = 'console/';
const Prebuilt = z.object({ default: z.custom<() => unknown>((value) => typeof value === 'function') });
/**
 * Packages of hundreds of small files, which every start would load one by one: each is bundled into a single file. None of our
 * other dependencies may import them, because they would get different copies of their classes.
 */
const BUNDLED_PACKAGES = ['kysely', '@simplewebauthn/server'];
/** Their folder in the compiled code. */
const PACKAGES = 'packages';
/** Text such as `new URL('./failure-converter.ts', import.meta.url)`. */
const SIBLING_URL = /(new URL\('[^']+)\.ts(', import\.meta\.url\))/g;
/** Text such as `from './document.ts'`. */
const SOURCE_IMPORT = /((?:from |import\()['"]\.{1,2}\/[^'"]+)\.ts(['"])/g;

/** Keeps every import external, with the compiled file name, and collects the bundled packages. */
const fileByFile = (imported: Set<string>): Plugin => ({
  name: 'file-by-file',
  setup(bundler) {
    bundler.onResolve({ filter: /.*/ }, ({ importer, kind, path }) => {
      if (kind === 'entry-point') return undefined;
      if (BUNDLED_PACKAGES.includes(path)) {
        imported.add(path);
        return { path: packageImport(importer, path), external: true };
      }
      return { path: path.startsWith('.') ? path.replace(/\.ts$/, '.js') : path, external: true };
    });
    bundler.onLoad({ filter: /\.ts$/ }, async ({ path }) => ({
      contents: (await readFile(path, 'utf8')).replace(SIBLING_URL, '$1.js$2'),
      loader: 'ts',
    }));
  },
});

/** The import path of a bundled package. */
function packageImport(importer: string, name: string): string {
  const path = relative(dirname(importer), resolve(PACKAGES, `${name}.js`));
  return path.startsWith('.') ? path : `./${path}`;
}

async function compilePackages(names: ReadonlySet<string>, folder: string): Promise<void> {
  await build({
    entryPoints: [...names].map((name) => ({ in: name, out: name })),
    outdir: join(folder, PACKAGES),
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    keepNames: true,
    logLevel: 'error',
  });
}

async function compile(files: readonly string[], folder: string): Promise<void> {
  const imported = new Set<string>();
  await build({
    entryPoints: files.filter((file) => file.endsWith('.ts') && !PREBUILT.test(file) && !file.startsWith(CONSOLE)),
    outdir: folder,
    outbase: '.',
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    sourcemap: 'linked',
    sourcesContent: false,
    plugins: [fileByFile(imported)],
    logLevel: 'error',
  });
  await Promise.all([
    compilePackages(imported, folder),
    writeFile(join(folder, 'package.json'), '{ "type": "module" }\n'),
    ...files.filter((file) => /\.(mjs|py)$/.test(file)).map((file) => cp(file, join(folder, file))),
    ...files.filter((file) => PREBUILT.test(file)).map((file) => prebuild(file, folder)),
  ]);
}

async function prebuild(file: string, folder: string): Promise<void> {
  const made = Prebuilt.parse(await import(pathToFileURL(resolve(file)).href)).default();
  const value = JSON.stringify(await made);
  const target = join(folder, file.replace(/\.ts$/, '.js'));
  await mkdir(dirname(target), { recursive: true });
  await writeFile(
    target,
    `const value = ${value};\nexport default ${made instanceof Promise ? 'async ' : ''}() => value;\n`,
  );
}

async function declareTypes(folder: string): Promise<void> {
  const tsc = join('node_modules', 'typescript-native', 'bin', 'tsc');
  execFileSync(process.execPath, [tsc, '-p', 'tsconfig.package.json', '--outDir', folder], { stdio: 'inherit' });
  // Declarations still refer to source file names.
  for (const file of await readdir(folder, { recursive: true })) {
    if (!file.endsWith('.d.ts')) continue;
    const path = join(folder, file);
    await writeFile(path, (await readFile(path, 'utf8')).replace(SOURCE_IMPORT, '$1.js$2'));
  }
}

const [target = '', compiled] = process.argv.slice(2);
const files = (await text(process.stdin)).split('\n').filter((line) => line !== '');
const draft = join(dirname(target), `.${basename(target)}-${process.pid}`);
await mkdir(draft, { recursive: true });
try {
  if (compiled === undefined) {
    await compile(files, draft);
  } else {
    await cp(compiled, draft, { recursive: true });
    await declareTypes(draft);
  }
  // The folder is replaced atomically, however this process ends.
  await rm(target, { recursive: true, force: true });
  await rename(draft, target);
} finally {
  await rm(draft, { recursive: true, force: true });
}
// webpack keeps handles open.
process.exit(0);
