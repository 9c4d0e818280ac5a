import { existsSync, realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { MountedFile } from '../process/isolation.ts';

/** Files of the machine that are mounted into the sandbox of a program; absent if not installed. */
export type Tools = Record<'node' | 'inside' | 'undici', MountedFile> &
  Partial<Record<'npm' | 'esbuild' | 'typescript', MountedFile>>;

/** Finds the tools that build and run programs. */
export function findTools(): Tools {
  const require = createRequire(import.meta.url);
  const npm = path.join(path.dirname(realpathSync(process.execPath)), '../lib/node_modules/npm');
  const esbuild = resolveTool(() => createRequire(require.resolve('esbuild')).resolve(esbuildBinary()));
  const typescript = resolveTool(() => path.dirname(require.resolve('typescript/package.json')));
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

/** Null if not installed; the service itself does not need it. */
function resolveTool(find: () => string): string | null {
  try {
    return realpathSync(find());
  } catch {
    return null;
  }
}
