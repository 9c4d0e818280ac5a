import { mkdir, writeFile } from 'node:fs/promises';
import { cpus, totalmem } from 'node:os';
import { say } from '../start/terminal.ts';
import { findChromium } from '../start/setup/chromium.ts';
import { startProcessTree, type ProcessTree } from '../test/e2e/process-tree.ts';
import { measureApplications } from './applications/measure.ts';
import { measureAuditLog } from './audit-log.ts';
import { measureBrowserService } from './browser-service.ts';
import { compareWithSdk, compatibilityReport } from './compatibility/compare.ts';
import { measureChecks } from './checks.ts';
import { tableOf, type Figure } from './figure.ts';
import { measureFirstKey } from './first-key.ts';
import { measureHistories } from './histories.ts';
import { measureKills } from './kills.ts';
import { measureLoginTime } from './login-time.ts';
import { fitReader } from './fit-reader.ts';
import { measureReader } from './reader.ts';
import { measurePoolAcquire } from './pool-acquire.ts';
import { measureReads } from './reads.ts';
import { recipesReport, tryRecipes } from './recipes/try-recipes.ts';
import { measureStartTime } from './start-time.ts';
import { measureTelemetry } from './telemetry.ts';
import { measureWorkerMemory } from './worker-memory.ts';

/**
 * `npm run bench` measures an installation started like `npm start` and prints the figures, in about a quarter of an hour.
 *
 * - `--save` also writes docs/performance.md.
 * - `reads first-key` measures only these parts; `kills` (a quarter of an hour) runs only when named.
 * - `applications [name…]` logs in to real applications from public registries; `recipes [name…]` runs docs/recipes.
 * - `compatibility` calls every operation of the SDK; with `--save` it writes docs/compatibility.md.
 * - `reader`, `fit` (the corpus of pages) and `audit-log` (ten million rows) need no installation.
 */
const REPORT = 'docs/performance.md';
const COMPATIBILITY_REPORT = 'docs/compatibility.md';

async function measure(parts: readonly string[]): Promise<Figure[]> {
  // Before the other parts' tree, which uses the processor.
  const starts = parts.length === 0 || parts.includes('start') ? await measureStartTime() : [];
  if (parts.length === 1 && starts.length > 0) return starts;
  const chromium = await findChromium();
  if (parts.length === 1 && parts[0] === 'acquire') return measurePoolAcquire(chromium);
  const tree = await startProcessTree();
  const figures: Figure[] = [...starts];
  const wanted = (part: string): boolean => parts.length === 0 || parts.includes(part);
  const add = (more: Figure[]): void => {
    for (const figure of more) say(`${figure.name}: ${figure.value}`);
    figures.push(...more);
  };
  try {
    const histories = wanted('histories') ? await measureHistories(tree) : undefined;
    histories?.check.catch(() => undefined);
    if (histories) add(histories.login);
    if (wanted('login-time')) add(await measureLoginTime(tree, chromium));
    if (wanted('browser')) add(await measureBrowserService(chromium));
    if (wanted('acquire')) add(await measurePoolAcquire(chromium));
    if (wanted('checks')) add(await measureChecks(tree, chromium));
    if (wanted('first-key')) add(await measureFirstKey(tree));
    if (parts.includes('kills')) add(await inSeparateTree(measureKills));
    if (wanted('telemetry')) add(await measureTelemetry(tree));
    if (wanted('worker-memory')) add(await measureWorkerMemory(tree));
    // Late, because it uses the whole machine. The check by timer is awaited at the end.
    if (wanted('reads')) add(await measureReads(tree));
    if (histories) add(await histories.check);
    return figures;
  } finally {
    await tree.remove();
  }
}

/** Runs a part that would disturb the others, or count their work, in a separate tree. */
async function inSeparateTree<Result>(part: (tree: ProcessTree) => Promise<Result>): Promise<Result> {
  const tree = await startProcessTree();
  try {
    return await part(tree);
  } finally {
    await tree.remove();
  }
}

function report(figures: readonly Figure[]): string {
  const cpu = cpus();
  const machine = `${cpu.length} cores (${cpu[0]?.model ?? 'unknown'}), ${Math.round(totalmem() / 2 ** 30)} GB`;
  return [
    '# Performance',
    '',
    `Measured on ${new Date().toISOString().slice(0, 10)} by \`npm run bench -- --save\`, everything on one machine: ${machine}, Node ${process.versions.node}.`,
    '',
    tableOf(figures),
    '',
    '**Logins** are timed from `create` to SUCCESS. Through Holdfast this includes API, workflow, worker, browser service, saving the profile, and',
    'opening it in a second browser, which verifies that it is logged in; in Playwright, starting a browser, filling in the form and saving the state.',
    'Both alternate in one run. The first turn is dropped, and the median is shown with minimum and maximum.',
    '',
    '**Reads** go through the HTTP API of one process, without rate limits. Load generator, API and database share the cores.',
    '',
    '**Browser starts** of the three kinds alternate in one run, with a pause before each in which the next warm browser starts. A cold start in Holdfast',
    "does more than Playwright's: it creates the session's folder and process space, tracks its pages, and opens a second connection through the",
    'CDP proxy. Scripts with capture alternate with the same script without.',
    '',
    '**Kills** (`npm run bench -- kills`, only when named) hit processes at random moments while people log in, and a second process soon after the first is',
    'back. A password is entered again if the session that it went into is lost.',
    '',
  ].join('\n');
}

const args = process.argv.slice(2);
if (args[0] === 'applications') {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
  say(`\n${await measureApplications(await findChromium(), args.slice(1))}`);
  process.exit(0);
}
if (args[0] === 'compatibility') {
  const rows = await compareWithSdk();
  say(`\n${compatibilityReport(rows)}`);
  if (args.includes('--save')) await writeFile(COMPATIBILITY_REPORT, compatibilityReport(rows));
  process.exit(rows.some(({ fault }) => fault?.startsWith('missing')) ? 1 : 0);
}
if (args[0] === 'recipes') {
  const tried = await inSeparateTree((tree) => tryRecipes(tree, args.slice(1)));
  say(`\n${recipesReport(tried)}`);
  process.exit(tried.every(({ fault }) => fault === null) ? 0 : 1);
}
const parts = args.filter((arg) => !arg.startsWith('-'));
const PAGE_BENCHES = new Map([
  ['reader', measureReader],
  ['fit', fitReader],
]);
const pageBench = PAGE_BENCHES.get(parts.join());
const figures = await (parts.join() === 'audit-log'
  ? measureAuditLog()
  : pageBench === undefined
    ? measure(parts)
    : pageBench(await findChromium()));
say(`\n${tableOf(figures)}`);
if (args.includes('--save')) {
  await mkdir('docs', { recursive: true });
  await writeFile(REPORT, report(figures));
  say(`Written to ${REPORT}`);
}
process.exit(0);
