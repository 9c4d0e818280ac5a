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
import { DASHBOARDS } from './dashboards.ts';
import { FLASK } from './flask.ts';
import { FRAMEWORKS } from './frameworks.ts';
import { HOME_SERVERS } from './home-servers.ts';
import { IDENTITY } from './identity.ts';
import { JAVA } from './java.ts';
import { JAVA_CONSOLES } from './java-consoles.ts';
import { NODE } from './node.ts';
import { PHP } from './php.ts';
import { PYTHON_INTERFACES } from './python-interfaces.ts';
import { PYTHON } from './python.ts';
import { PYTHON_TOOLS } from './python-tools.ts';
import { ConnectionDriver, useCode, waitForFreshCode } from './connection-driver.ts';

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
  ...JAVA_CONSOLES,
  ...FRAMEWORKS,
  ...PYTHON_TOOLS,
];

/** The results for one application: `yes`, or the failure. */
interface Row {
  application: Application;
  first: string;
  wrongThenRight: string;
  lostSession: string;
  seconds: number;
  byHandSeconds: number;
}

/**
 * Runs Holdfast against real applications from public registries: a first login, a wrong password before the right one,
 * and a session that was ended on the server. Returns a Markdown table. `wanted`: parts of their names, empty for all.
 * Installed applications stay in the user's cache folder.
 */
export async function measureApplications(chromiumPath: string, wanted: readonly string[]): Promise<string> {
  const selected = APPLICATIONS.filter(
    ({ name }) => wanted.length === 0 || wanted.some((part) => name.toLowerCase().includes(part.toLowerCase())),
  );
  const tree = await startProcessTree({ HOLDFAST_ALLOW_PRIVATE_HOSTS: 'localhost,127.0.0.1' });
  const rows: Row[] = [];
  try {
    for (const application of selected) {
      const row = await measure(application, tree, chromiumPath);
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

async function measure(application: Application, tree: ProcessTree, chromiumPath: string): Promise<Row> {
  const root = process.env['HOLDFAST_APPLICATIONS_DIR'] ?? join(homedir(), '.cache', 'holdfast', 'applications');
  const folder = join(root, application.installedAs);
  const data = await mkdtemp(join(tmpdir(), 'holdfast-application-'));
  const row: Row = { application, first: 'no', wrongThenRight: '', lostSession: '', seconds: NaN, byHandSeconds: NaN };
  let running: RunningApplication | null = null;
  try {
    await mkdir(root, { recursive: true });
    await application.install(folder);
    const port = await freePortBlock(6);
    const domain = `localhost:${port}`;
    const started = await application.start({ folder, data, port, url: `http://${domain}` });
    running = started;
    const kernel = clientOf(tree);
    row.byHandSeconds = await byHand(started, chromiumPath).catch(reportFailureByHand);
    const { account } = started;
    // The script has used this code, and waiting for the next one must not count as login time.
    if (account.totpSecret !== undefined) useCode(account);
    await waitForFreshCode(account);
    const profile = application.name.toLowerCase().replace(/[^a-z0-9]+/g, '-');
    const connection = await ConnectionDriver.create(kernel, started, { domain, profile });
    row.first = await attempt(connection, async () => {
      row.seconds = await timed(() => connection.logIn());
    });
    await waitForFreshCode(account);
    if (started.takesAnyPassword === true) row.wrongThenRight = 'takes any';
    else {
      const other = await ConnectionDriver.create(kernel, started, { domain, profile: `${profile}-2` });
      row.wrongThenRight = await attempt(other, () => other.logIn(true));
    }
    if (row.first !== 'yes') return row;
    row.lostSession = await attempt(connection, async () => {
      await connection.saveTotpSecret();
      const before = await connection.check();
      if (before.status !== 'AUTHENTICATED')
        throw new Error(`a valid session was not recognized: ${await connection.lastCheck()}, ${errorOf(before)}`);
      await started.endSessions();
      await waitForFreshCode(account);
      const after = await connection.check();
      if (after.status === 'AUTHENTICATED' && after.flow_type !== 'REAUTH')
        throw new Error(`the lost session was not detected: ${await connection.lastCheck()}`);
      const reason = String(after.can_reauth_reason);
      if (started.needsPerson === reason && after.status === 'NEEDS_AUTH') return;
      if (after.flow_type !== 'REAUTH') throw new Error(`no automatic login: ${reason}`);
      if (after.status !== 'AUTHENTICATED') throw new Error(errorOf(after));
    });
    return row;
  } catch (error) {
    return { ...row, first: messageOf(error) };
  } finally {
    await running?.stop();
    await rm(data, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  }
}

async function attempt(driver: ConnectionDriver, work: () => Promise<void>): Promise<string> {
  try {
    await work();
    return 'yes';
  } catch (error) {
    process.stderr.write(`${await driver.dump().catch(String)}\n`);
    return `${messageOf(error)} [asked: ${driver.prompts.join('; ')}]`;
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

function reportFailureByHand(error: unknown): number {
  process.stderr.write(`By hand: ${String(error)}\n`);
  return NaN;
}

async function timed(work: () => Promise<void>): Promise<number> {
  const began = performance.now();
  await work();
  return (performance.now() - began) / 1000;
}

function errorOf({ error_code: code, error_message: message }: ManagedAuth): string {
  return `${String(code)}: ${String(message)}`;
}

function rowOf({ application, first, wrongThenRight, lostSession, seconds, byHandSeconds }: Row): string {
  const cells = [application.name, application.builtWith, first, wrongThenRight, lostSession];
  return `| ${[...cells, seconds.toFixed(1), byHandSeconds.toFixed(1)].join(' | ')} |`;
}

function messageOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).slice(0, 300).replaceAll(/\s+/g, ' ');
}
