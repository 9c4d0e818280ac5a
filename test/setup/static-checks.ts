import { existsSync } from 'node:fs';
import { constants, setPriority } from 'node:os';
import { join } from 'node:path';
import { run } from '../../start/setup/command.ts';

/** What one static check found. */
export interface CheckResult {
  name: string;
  ok: boolean;
  /** What it printed; empty when all is well. */
  output: string;
  seconds: number;
}

const MODULES = 'node_modules';
/** What is known of earlier runs; a check that finds it does only what has changed. */
const CACHE = join(MODULES, '.cache', 'holdfast-test');
/** Folders with a tsconfig of their own: code that runs in a page, with the DOM's types. */
const TYPE_ROOTS = ['.', 'api/hosted/page', 'reader/page', 'browser/live/page'];

/**
 * Format, lint, types and import boundaries, one after the other, in the time that tests leave. Resolves with every check's
 * result, whether earlier ones failed or not; never rejects.
 */
export async function runStaticChecks(): Promise<CheckResult[]> {
  const results: CheckResult[] = [];
  for (const { name, args } of checks()) {
    const began = Date.now();
    const { ok, output } = await run(process.execPath, args, {
      onStart: (pid) => {
        setPriority(pid, constants.priority.PRIORITY_BELOW_NORMAL);
      },
    });
    results.push({ name, ok, output: ok ? '' : output.trim(), seconds: (Date.now() - began) / 1000 });
  }
  return results;
}

function checks(): { name: string; args: string[] }[] {
  return [
    {
      name: 'format (oxfmt)',
      args: [`${MODULES}/oxfmt/bin/oxfmt`, '--check', '.'],
    },
    { name: 'lint (oxlint)', args: [`${MODULES}/oxlint/bin/oxlint`, '.'] },
    ...TYPE_ROOTS.filter((folder) => existsSync(join(folder, 'tsconfig.json'))).map((folder) => ({
      name: `types (tsc -p ${folder})`,
      args: [
        `${MODULES}/typescript-native/bin/tsc`,
        ...['--noEmit', '-p', folder, '--incremental'],
        ...['--tsBuildInfoFile', join(CACHE, `${folder === '.' ? 'root' : folder.replaceAll('/', '-')}.tsbuildinfo`)],
      ],
    })),
    {
      name: 'import boundaries and cycles (dependency-cruiser)',
      args: [`${MODULES}/dependency-cruiser/bin/dependency-cruise.mjs`, '--config', '.dependency-cruiser.cjs', '.'],
    },
  ];
}
