import { execFileSync } from 'node:child_process';
import { cp, mkdir, readFile, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import type { Plugin } from 'esbuild';
import { z } from 'zod';

/**
 * Compiles the sources that standard input names, one a line, into the folder named by the first argument. Each file
 * stays a file of its own, so that what lies beside a module is found beside it. A file `*.prebuilt.ts` has a default export
 * that makes something out of sources (a script for pages, the bundle of the workflows): it is called here, and the
 * compiled module holds what it answered. Where a second argument names a folder that was compiled so before, it is copied instead, and
 * declarations are added for those who import the package.
 */
const PREBUILT = /\.prebuilt\.ts$/;
/** Runs in browsers alone: what is prebuilt holds it whole. */
const APPLICATION = 'console/';
const Prebuilt = z.object({ default: z.custom<() => unknown>((value) => typeof value === 'function') });
/**
 * Packages of hundreds of small files, which every start would find, open and compile one by one: each is compiled into
 * one file of its own. Nothing else that we depend on may import them, for it would have other copies of their classes.
 */
const INTO_ONE_FILE = ['kysely', '@simplewebauthn/server'];
/** Where they go, below the folder of the compiled code. */
const PACKAGES = 'packages';
/** Text such as `new URL('./failure-converter.ts', import.meta.url)`. */
const SIBLING_URL = /(new URL\('[^']+)\.ts(', import\.meta\.url\))/g;
/** Text such as `from './document.ts'`. */
const SOURCE_IMPORT = /((?:from |import\()['"]\.{1,2}\/[^'"]+)\.ts(['"])/g;

/** Leaves every import where it is, with the name that the imported file has when it is compiled; notes what goes into one file. */
const fileByFile = (imported: Set<string>): Plugin => ({
  name: 'file-by-file',
  setup(bundler) {
    bundler.onResolve({ filter: /.*/ }, ({ importer, kind, path }) => {
      if (kind === 'entry-point') return undefined;
      if (INTO_ONE_FILE.includes(path)) {
        imported.add(path);
        return { path: packageFrom(importer, path), external: true };
      }
      return { path: path.startsWith('.') ? path.replace(/\.ts$/, '.js') : path, external: true };
    });
    bundler.onLoad({ filter: /\.ts$/ }, async ({ path }) => ({
      contents: (await readFile(path, 'utf8')).replace(SIBLING_URL, '$1.js$2'),
      loader: 'ts',
    }));
  },
});

/** How a compiled module imports a package that is one file. */
function packageFrom(importer: string, name: string): string {
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
    entryPoints: files.filter((file) => file.endsWith('.ts') && !PREBUILT.test(file) && !file.startsWith(APPLICATION)),
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
  // The compiler leaves the names of sources in declarations.
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
  // The folder is there whole or not at all, however this process ends.
  await rm(target, { recursive: true, force: true });
  await rename(draft, target);
} finally {
  await rm(draft, { recursive: true, force: true });
}
// webpack keeps handles open.
process.exit(0);
