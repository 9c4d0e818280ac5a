import { chmod, mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build, type Plugin } from 'esbuild';

/** Browser services in `test/browser/` that tests start as separate processes, by name. */
const PROGRAMS = ['forked-service', 'measured-service', 'run-service'] as const;
/** The name of one. */
export type ServiceProgram = (typeof PROGRAMS)[number];

/** What lies beside a module is found beside its source. */
const atTheirSources: Plugin = {
  name: 'at-their-sources',
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
 * Compiles them once for a run, for every user to read: each start of one from its sources, in a folder of temporary files of
 * its own, would compile all of the browser service again. Remove the folder when they have ended.
 */
export async function compileServicePrograms(): Promise<{ folder: string; remove: () => Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-programs-'));
  const remove = () => rm(folder, { recursive: true, force: true });
  try {
    await chmod(folder, 0o755);
    // Packages stay where they are installed.
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
      plugins: [atTheirSources],
      logLevel: 'error',
    });
    return { folder, remove };
  } catch (error) {
    await remove();
    throw error;
  }
}
