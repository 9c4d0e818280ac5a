import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import type { ManagedAuth } from '../../contract/connections.ts';
import { say } from '../../start/terminal.ts';
import { startProcessTree, type ProcessTree } from '../../test/e2e/process-tree.ts';
import { freePortBlock } from '../../test/setup/free-port-block.ts';
import { clientOf } from '../logins.ts';
import type { Application, RunningApplication } from './application.ts';
import { ADMIN_CONSOLES } from './admin-consoles.ts';
import { CHERRYPY } from './cherrypy.ts';
import { CONTENT } from './content.ts';
import { DASHBOARDS } from './dashboards.ts';
import { DATA_TOOLS } from './data-tools.ts';
import { FLASK } from './flask.ts';
import { FRAMEWORKS } from './frameworks.ts';
import { HOME_SERVERS } from './home-servers.ts';
import { IDENTITY } from './identity.ts';
import { JAVA } from './java.ts';
import { JAVA_CONSOLES } from './java-consoles.ts';
import { NODE } from './node.ts';
import { NODE_TOOLS } from './node-tools.ts';
import { PHP } from './php.ts';
import { PYTHON_INTERFACES } from './python-interfaces.ts';
import { PYTHON } from './python.ts';
import { PYTHON_TOOLS } from './python-tools.ts';
import { spendCode, untilFreshCode, Walk } from './walk.ts';

const APPLICATIONS: readonly Application[] = [
  ...PYTHON,
  ...FLASK,
  ...NODE,
  ...ADMIN_CONSOLES,
  ...JAVA,
  ...PHP,
  ...IDENTITY,
  ...DASHBOARDS,
  ...PYTHON_INTERFACES,
  ...HOME_SERVERS,
  ...CONTENT,
  ...JAVA_CONSOLES,
  ...DATA_TOOLS,
  ...FRAMEWORKS,
  ...NODE_TOOLS,
  ...PYTHON_TOOLS,
  ...CHERRYPY,
];

/** What one application showed: `yes`, or why not. */
interface Row {
  application: Application;
  first: string;
  wrongThenRight: string;
  lostSession: string;
  seconds: number;
  byHandSeconds: number;
}

/**
 * Walks real applications from public registries through a whole Holdfast: the first login, a wrong password before the
 * right one, and a session that was ended at the server. Answers a Markdown table. `wanted`: parts of their names;
 * empty for all. What is installed stays in the user's cache folder.
 */
export async function walkApplications(chromiumPath: string, wanted: readonly string[]): Promise<string> {
  const named = APPLICATIONS.filter(
    ({ name }) => wanted.length === 0 || wanted.some((part) => name.toLowerCase().includes(part.toLowerCase())),
  );
  const tree = await startProcessTree({ HOLDFAST_ALLOW_PRIVATE_HOSTS: 'localhost,127.0.0.1' });
  const rows: Row[] = [];
  try {
    for (const application of named) {
      const row = await walk(application, tree, chromiumPath);
      say(rowOf(row));
      rows.push(row);
    }
  } finally {
    await tree.remove();
  }
  return [
    '| application | built with | first login | wrong, then right password | lost session | seconds | by hand |',
    '|---|---|---|---|---|---|---|',
    ...rows.map(rowOf),
  ].join('\n');
}

async function walk(application: Application, tree: ProcessTree, chromiumPath: string): Promise<Row> {
  const root = process.env['HOLDFAST_APPLICATIONS_DIR'] ?? join(homedir(), '.cache', 'holdfast', 'applications');
  const folder = join(root, application.installedAs);
  const data = await mkdtemp(join(tmpdir(), 'holdfast-application-'));
  const row: Row = { application, first: 'no', wrongThenRight: '', lostSession: '', seconds: NaN, byHandSeconds: NaN };
  let running: RunningApplication | null = null;
  try {
    await mkdir(root, { recursive: true });
    await application.install(folder);
    const started = await application.start({ folder, data, port: await freePortBlock(6) });
    running = started;
    const kernel = clientOf(tree);
    row.byHandSeconds = await byHand(started, chromiumPath).catch(failsByHand);
    const { account } = started;
    // What the script by hand has given is not taken a second time, and nobody's seconds are those of a clock.
    if (account.totpSecret !== undefined) spendCode(account);
    await untilFreshCode(account);
    const profile = application.name.toLowerCase().replace(/[^a-z0-9]+/g, '-');
    const connection = await Walk.begin(kernel, started, profile);
    row.first = await attempt(connection, async () => {
      row.seconds = await timed(() => connection.logIn());
    });
    await untilFreshCode(account);
    if (started.takesAnyPassword === true) row.wrongThenRight = 'takes any';
    else {
      const other = await Walk.begin(kernel, started, `${profile}-2`);
      row.wrongThenRight = await attempt(other, () => other.logIn(true));
    }
    if (row.first !== 'yes') return row;
    row.lostSession = await attempt(connection, async () => {
      await connection.saveTotpSecret();
      const before = await connection.check();
      if (before.status !== 'AUTHENTICATED')
        throw new Error(`a good session is not taken for one: ${await connection.lastCheck()}, ${told(before)}`);
      await started.endSessions();
      await untilFreshCode(account);
      const after = await connection.check();
      if (after.status === 'AUTHENTICATED' && after.flow_type !== 'REAUTH')
        throw new Error(`the loss was not noticed: ${await connection.lastCheck()}`);
      const reason = String(after.can_reauth_reason);
      if (started.needsPerson === reason && after.status === 'NEEDS_AUTH') return;
      if (after.flow_type !== 'REAUTH') throw new Error(`nobody may log in again: ${reason}`);
      if (after.status !== 'AUTHENTICATED') throw new Error(told(after));
    });
    return row;
  } catch (error) {
    return { ...row, first: wordsOf(error) };
  } finally {
    await running?.stop();
    await rm(data, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  }
}

async function attempt(walked: Walk, work: () => Promise<void>): Promise<string> {
  try {
    await work();
    return 'yes';
  } catch (error) {
    process.stderr.write(`${await walked.story().catch(String)}\n`);
    return `${wordsOf(error)} [asked: ${walked.asked.join('; ')}]`;
  }
}

async function byHand(running: RunningApplication, executablePath: string): Promise<number> {
  return await timed(async () => {
    const browser = await chromium.launch({ executablePath, chromiumSandbox: process.getuid?.() !== 0 });
    try {
      const page = await browser.newPage();
      page.setDefaultTimeout(20_000);
      await running.byHand(page);
      await page.context().storageState();
    } finally {
      await browser.close();
    }
  });
}

function failsByHand(error: unknown): number {
  process.stderr.write(`By hand: ${String(error)}\n`);
  return NaN;
}

async function timed(work: () => Promise<void>): Promise<number> {
  const began = performance.now();
  await work();
  return (performance.now() - began) / 1000;
}

function told({ error_code: code, error_message: message }: ManagedAuth): string {
  return `${String(code)}: ${String(message)}`;
}

function rowOf({ application, first, wrongThenRight, lostSession, seconds, byHandSeconds }: Row): string {
  const cells = [application.name, application.madeOf, first, wrongThenRight, lostSession];
  return `| ${[...cells, seconds.toFixed(1), byHandSeconds.toFixed(1)].join(' | ')} |`;
}

function wordsOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).slice(0, 300).replaceAll(/\s+/g, ' ');
}
