import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { spawn } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { findChromium } from '../start/setup/chromium.ts';
import { findPostgres } from '../start/postgres/binaries.ts';
import { SetupError } from '../start/setup/setup-error.ts';
import { findTemporalCli } from '../start/setup/temporal.ts';
import { findTestServer } from './setup/test-server.ts';
import { requireFeatures } from '../start/setup/features.ts';
import { runStaticChecks, type CheckResult } from './setup/static-checks.ts';
import { say } from '../start/terminal.ts';

/** What was counted. */
interface Tally {
  passed: number;
  failed: number;
  /** What failed, for the last lines. */
  failures: string[];
}

const VitestReport = z.object({
  numPassedTests: z.number(),
  numFailedTests: z.number(),
  numPendingTests: z.number(),
  testResults: z.array(
    z.object({ name: z.string(), status: z.string(), assertionResults: z.array(z.object({ status: z.string() })) }),
  ),
});

/** Chooses the tier that is no part of `npm test`: what `npm run test:soak` gives as its first argument. */
const SOAK = '--soak';

/** Where Temporal has to be built, that takes minutes: the rest is got meanwhile. */
async function setUp(): Promise<void> {
  await Promise.all([findTemporalCli(), setUpRest()]);
}

async function setUpRest(): Promise<void> {
  await findTestServer();
  await findChromium();
  await findPostgres();
  await requireFeatures();
}

function countChecks(results: readonly CheckResult[], tally: Tally): void {
  for (const { name, ok, output, seconds } of results) {
    say(`${ok ? '✓' : '✗'} ${name} ${seconds.toFixed(1)} s`);
    if (ok) {
      tally.passed += 1;
      continue;
    }
    say(output);
    tally.failed += 1;
    tally.failures.push(name);
  }
}

/** Runs vitest with its own reporter on the terminal and its JSON report beside it, and counts from the report. */
async function vitest(args: readonly string[], tally: Tally): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-test-'));
  const reportFile = join(folder, 'report.json');
  try {
    const code = await new Promise<number>((resolve, reject) => {
      const child = spawn(
        process.execPath,
        [
          'node_modules/vitest/vitest.mjs',
          'run',
          '--reporter=default',
          '--reporter=json',
          `--outputFile.json=${reportFile}`,
          ...args,
        ],
        { stdio: ['ignore', 'inherit', 'inherit'] },
      );
      child.on('error', reject);
      child.on('close', (exit) => {
        resolve(exit ?? 1);
      });
    });
    const counted = await readReport(reportFile);
    if (counted === undefined) {
      tally.failed += 1;
      tally.failures.push('vitest ended without a report');
      return;
    }
    tally.passed += counted.numPassedTests;
    tally.failed += counted.numFailedTests;
    if (counted.numFailedTests > 0) tally.failures.push(`${counted.numFailedTests} tests`);
    // A file that cannot be loaded has no failed test in it, and a skipped test is one that nobody ran.
    for (const file of counted.testResults) {
      if (file.status !== 'failed' || file.assertionResults.some((test) => test.status === 'failed')) continue;
      tally.failed += 1;
      tally.failures.push(`${file.name} did not run`);
    }
    if (counted.numPendingTests > 0) {
      tally.failed += counted.numPendingTests;
      tally.failures.push(`${counted.numPendingTests} skipped tests`);
    }
    if (code !== 0 && tally.failures.length === 0) {
      tally.failed += 1;
      tally.failures.push('vitest: an error outside of any test');
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function readReport(file: string): Promise<z.infer<typeof VitestReport> | undefined> {
  try {
    return VitestReport.parse(JSON.parse(await readFile(file, 'utf8')));
  } catch {
    return undefined;
  }
}

/** Arguments of vitest: the tiers that are wanted, unless the caller names them. */
function withTiers([first, ...others]: readonly string[]): string[] {
  if (first === SOAK) return ['--project=soak', ...others];
  const given = first === undefined ? [] : [first, ...others];
  return given.some((argument) => argument.startsWith('--project')) ? given : ['--project=!soak', ...given];
}

/**
 * `npm test`: brings up what the tests need, then runs all tests, and format, lint, types and import boundaries beside them.
 * Every check runs even when another one failed. Arguments go to vitest (`npm test -- store`); then the static checks are
 * left out, as they are in `npm run test:soak`, which runs the tier of that name and no other. Writes `N passed, N failed`
 * as its last line, and into the file named by HOLDFAST_TEST_SUMMARY.
 */
async function main(): Promise<void> {
  const tally: Tally = { passed: 0, failed: 0, failures: [] };
  const args = process.argv.slice(2);
  try {
    await setUp();
    const checks = args.length === 0 ? runStaticChecks() : Promise.resolve([]);
    await vitest(withTiers(args), tally);
    countChecks(await checks, tally);
  } catch (error) {
    if (!(error instanceof SetupError)) throw error;
    say(error.message);
    tally.failed += 1;
    tally.failures.push('set-up');
  }
  if (tally.failures.length > 0) say(`Failed: ${tally.failures.join('; ')}`);
  const summary = `${tally.passed} passed, ${tally.failed} failed`;
  say(summary);
  const file = process.env.HOLDFAST_TEST_SUMMARY;
  if (file !== undefined && file !== '') await writeFile(file, `${summary}\n`);
  process.exitCode = tally.failed === 0 ? 0 : 1;
}

await main();
