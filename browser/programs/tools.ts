import { existsSync, realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { MountedFile } from '../process/isolation.ts';

/** What the sandbox of a program is shown of the machine, by name; what this machine does not have is absent. */
export type Tools = Record<'node' | 'inside' | 'undici', MountedFile> &
  Partial<Record<'npm' | 'esbuild' | 'typescript', MountedFile>>;

/** Finds what programs are run and built with. */
export function findTools(): Tools {
  const require = createRequire(import.meta.url);
  const npm = path.join(path.dirname(realpathSync(process.execPath)), '../lib/node_modules/npm');
  const esbuild = sandboxPath(() => createRequire(require.resolve('esbuild')).resolve(esbuildBinary()));
  const typescript = sandboxPath(() => path.dirname(require.resolve('typescript/package.json')));
  return {
    node: { name: 'node', source: realpathSync(process.execPath) },
    inside: { name: 'holdfast', source: fileURLToPath(new URL('inside', import.meta.url)) },
    undici: { name: 'undici', source: path.dirname(require.resolve('undici/package.json')) },
    ...(existsSync(npm) ? { npm: { name: 'npm', source: npm } } : {}),
    ...(esbuild === null ? {} : { esbuild: { name: 'esbuild', source: esbuild } }),
    ...(typescript === null ? {} : { typescript: { name: 'typescript', source: typescript } }),
  };
}

function esbuildBinary(): string {
  return `@esbuild/${process.platform}-${process.arch}/bin/esbuild`;
}

/** Null for what is not installed: it is no need of the service's own. */
function sandboxPath(find: () => string): string | null {
  try {
    return realpathSync(find());
  } catch {
    return null;
  }
}
