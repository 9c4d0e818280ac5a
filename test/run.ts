import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { spawn } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { findChromium } from '../start/setup/chromium.ts';
import { findPostgres } from '../start/postgres/binaries.ts';
import { SetupError } from '../start/setup/setup-error.ts';
import { findTemporalCli } from '../start/setup/temporal.ts';
import { memoryFolderCommand } from './setup/memory-folder.ts';
import { findTestServer } from './setup/test-server.ts';
import { requireFeatures } from '../start/setup/features.ts';
import { runStaticChecks, type CheckResult } from './setup/static-checks.ts';
import { say } from '../start/terminal.ts';

/** Test results. */
interface Tally {
  passed: number;
  failed: number;
  /** Summary of failures. */
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

/** First argument of `npm run test:soak`, which selects the tier that `npm test` leaves out. */
const SOAK = '--soak';

async function setUp(): Promise<void> {
  const others = async (): Promise<void> => {
    await findTestServer();
    await findChromium();
    await findPostgres();
    await requireFeatures();
  };
  // Building Temporal can take minutes.
  await Promise.all([findTemporalCli(), others()]);
}

function addFailures(tally: Tally, count: number, description: string): void {
  tally.failed += count;
  tally.failures.push(description);
}

function countChecks(results: readonly CheckResult[], tally: Tally): void {
  for (const { name, ok, output, seconds } of results) {
    say(`${ok ? '✓' : '✗'} ${name} ${seconds.toFixed(1)} s`);
    if (ok) {
      tally.passed += 1;
      continue;
    }
    say(output);
    addFailures(tally, 1, name);
  }
}

/** Runs vitest with terminal output and counts the results of its JSON report. */
async function vitest(args: readonly string[], tally: Tally): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-test-'));
  const reportFile = join(folder, 'report.json');
  const temporaryFiles = join(folder, 'tmp');
  try {
    // Some tests start programs as other users, which need a way in.
    await chmod(folder, 0o755);
    await mkdir(temporaryFiles);
    await chmod(temporaryFiles, 0o1777);
    const [program = process.execPath, ...options] = [
      ...(await memoryFolderCommand(temporaryFiles)),
      process.execPath,
      'node_modules/vitest/vitest.mjs',
      'run',
      '--reporter=default',
      '--reporter=json',
      `--outputFile.json=${reportFile}`,
      ...args,
    ];
    const code = await new Promise<number>((resolve, reject) => {
      const child = spawn(program, options, {
        stdio: ['ignore', 'inherit', 'inherit'],
        env: { ...process.env, TMPDIR: temporaryFiles },
      });
      child.on('error', reject);
      child.on('close', (exit) => {
        resolve(exit ?? 1);
      });
    });
    const report = await readReport(reportFile);
    if (report === undefined) {
      addFailures(tally, 1, 'vitest ended without a report');
      return;
    }
    tally.passed += report.numPassedTests;
    if (report.numFailedTests > 0) addFailures(tally, report.numFailedTests, `${report.numFailedTests} tests`);
    // A file that cannot be loaded contains no failed test. Skipped tests count as failed.
    for (const file of report.testResults) {
      if (file.status !== 'failed' || file.assertionResults.some((test) => test.status === 'failed')) continue;
      addFailures(tally, 1, `${file.name} did not run`);
    }
    if (report.numPendingTests > 0)
      addFailures(tally, report.numPendingTests, `${report.numPendingTests} skipped tests`);
    if (code !== 0 && tally.failures.length === 0) addFailures(tally, 1, 'vitest: an error outside of any test');
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

/** Arguments of vitest: adds the tiers unless the caller selects them. */
function withTiers([first, ...others]: readonly string[]): string[] {
  if (first === SOAK) return ['--project=soak', ...others];
  const given = first === undefined ? [] : [first, ...others];
  return given.some((argument) => argument.startsWith('--project')) ? given : ['--project=suite', ...given];
}

/**
 * `npm test`: installs what the tests need, then runs all tests and, in parallel, the static checks. Every check runs even if
 * another fails. Arguments are passed to vitest (`npm test -- store`) and skip the static checks, as does `npm run test:soak`.
 * Writes `N passed, N failed` as the last line, and to the file named by HOLDFAST_TEST_SUMMARY.
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
    addFailures(tally, 1, 'set-up');
  }
  if (tally.failures.length > 0) say(`Failed: ${tally.failures.join('; ')}`);
  const summary = `${tally.passed} passed, ${tally.failed} failed`;
  say(summary);
  const file = process.env.HOLDFAST_TEST_SUMMARY;
  if (file !== undefined && file !== '') await writeFile(file, `${summary}\n`);
  process.exitCode = tally.failed === 0 ? 0 : 1;
}

await main();
