import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { spawn } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { findChromium } from './setup/chromium.ts';
import { run } from './setup/command.ts';
import { findPostgres } from './postgres/binaries.ts';
import { SetupError } from './setup/setup-error.ts';
import { findTemporalCli } from './setup/temporal.ts';
import { findTestServer } from './setup/test-server.ts';
import { findDebianTool } from './setup/debian-tools.ts';

/**
 * `npm test`: brings up what the tests need, then format, lint, types, import arrows and all tests. Every check runs
 * even when an earlier one failed. Arguments go to vitest (`npm test -- store`); then the static checks are left out.
 * Writes `N passed, N failed` as its last line, and into the file named by HOLDFAST_TEST_SUMMARY.
 */
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

/** Folders with a tsconfig of their own: code that runs in a page, with the DOM's types. */
const TYPE_ROOTS = ['.', 'api/hosted/page', 'reader/page', 'browser/live/page'];

const say = (line: string): void => {
  process.stdout.write(`${line}\n`);
};

async function setUp(): Promise<void> {
  await findTemporalCli();
  await findTestServer();
  await findChromium();
  await findPostgres();
  for (const program of ['Xvfb', 'ffmpeg', 'bwrap', 'xdotool'] as const) await findDebianTool(program);
}

async function staticChecks(tally: Tally): Promise<void> {
  const modules = 'node_modules';
  const checks: { name: string; args: string[] }[] = [
    {
      name: 'format (prettier)',
      args: [`${modules}/prettier/bin/prettier.cjs`, '--check', '--log-level', 'warn', '.'],
    },
    { name: 'lint (eslint)', args: [`${modules}/eslint/bin/eslint.js`, '--max-warnings', '0', '.'] },
    ...TYPE_ROOTS.filter((folder) => existsSync(join(folder, 'tsconfig.json'))).map((folder) => ({
      name: `types (tsc -p ${folder})`,
      args: [`${modules}/typescript/bin/tsc`, '--noEmit', '-p', folder],
    })),
    {
      name: 'import arrows and cycles (dependency-cruiser)',
      args: [`${modules}/dependency-cruiser/bin/dependency-cruise.mjs`, '--config', '.dependency-cruiser.cjs', '.'],
    },
  ];
  for (const check of checks) {
    const began = Date.now();
    const result = await run(process.execPath, check.args);
    const seconds = ((Date.now() - began) / 1000).toFixed(1);
    say(`${result.ok ? '✓' : '✗'} ${check.name} ${seconds} s`);
    if (result.ok) {
      tally.passed += 1;
    } else {
      say(result.output.trim());
      tally.failed += 1;
      tally.failures.push(check.name);
    }
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

async function main(): Promise<void> {
  const tally: Tally = { passed: 0, failed: 0, failures: [] };
  const args = process.argv.slice(2);
  try {
    await setUp();
    if (args.length === 0) await staticChecks(tally);
    await vitest(args, tally);
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
