import { constants, setPriority } from 'node:os';
import { run } from '../../start/setup/command.ts';

/** The result of a static check. */
export interface CheckResult {
  name: string;
  ok: boolean;
  /** Its output; empty if it passed. */
  output: string;
  seconds: number;
}

const MODULES = 'node_modules';
/**
 * Runs format, lint, type and import boundary checks sequentially beside the tests. Resolves with all results, even if some
 * failed; never rejects.
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
    // The linter loads all types anyway, so it checks them in half the compiler's time.
    { name: 'lint and types (oxlint)', args: [`${MODULES}/oxlint/bin/oxlint`, '--type-check', '.'] },
    {
      name: 'import boundaries and cycles (dependency-cruiser)',
      args: [`${MODULES}/dependency-cruiser/bin/dependency-cruise.mjs`, '--config', '.dependency-cruiser.cjs', '.'],
    },
  ];
}
