import { chmod, mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build, type Plugin } from 'esbuild';

/** Browser services in `test/browser/` that tests start as separate processes, by name. */
const PROGRAMS = ['forked-service', 'measured-service', 'run-service'] as const;
export type ServiceProgram = (typeof PROGRAMS)[number];

/** Resolves files relative to a module's source. */
const sourcePaths: Plugin = {
  name: 'source-paths',
  setup(bundler) {
    bundler.onLoad({ filter: /\.ts$/ }, async ({ path }) => ({
      contents: (await readFile(path, 'utf8'))
        .replaceAll('import.meta.url', JSON.stringify(pathToFileURL(path).href))
        .replaceAll('import.meta.dirname', JSON.stringify(dirname(path))),
      loader: 'ts',
    }));
  },
};

/**
 * Compiles the programs once per run, readable by every user. Starting them from sources, with their own temporary folders,
 * would compile the whole browser service each time. Remove the folder after they have exited.
 */
export async function compileServicePrograms(): Promise<{ folder: string; remove: () => Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-programs-'));
  const remove = () => rm(folder, { recursive: true, force: true });
  try {
    await chmod(folder, 0o755);
    await symlink(resolve('node_modules'), join(folder, 'node_modules'));
    await build({
      entryPoints: PROGRAMS.map((name) => join('test', 'browser', `${name}.ts`)),
      outdir: folder,
      outExtension: { '.js': '.mjs' },
      bundle: true,
      splitting: true,
      packages: 'external',
      format: 'esm',
      platform: 'node',
      target: 'node20',
      keepNames: true,
      plugins: [sourcePaths],
      logLevel: 'error',
    });
    return { folder, remove };
  } catch (error) {
    await remove();
    throw error;
  }
}
