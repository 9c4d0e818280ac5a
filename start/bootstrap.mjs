// First step of every `npm run` command. Plain JavaScript on Node's own modules alone, because it runs right after
// `git clone`, when nothing is installed: it brings node_modules up to date, then hands over to a TypeScript entry
// in this same process (no second process between npm and the program, so signals and exit codes need no passing on).
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { fileURLToPath, pathToFileURL } from 'node:url';

const OLDEST_NODE = [20, 19];
/** How long one start waits for another that is installing, in milliseconds. */
const INSTALL_WAIT_MS = 600_000;

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const modules = join(root, 'node_modules');
const lockDir = join(root, '.install-lock');

/** Command name -> TypeScript entry. */
const ENTRIES = {
  start: 'start/main.ts',
  test: 'start/test.ts',
  read: 'start/read.ts',
  bench: 'bench/main.ts',
  api: 'start/roles/api.ts',
  worker: 'start/roles/worker.ts',
  browser: 'start/browser.ts',
  store: 'start/roles/store.ts',
  sandbox: 'start/roles/sandbox.ts',
};

/** One line for the person at the terminal instead of a stack trace. */
class BootstrapError extends Error {}

function fail(line) {
  throw new BootstrapError(line);
}

function checkNode() {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  const [wantMajor, wantMinor] = OLDEST_NODE;
  if (major < wantMajor || (major === wantMajor && minor < wantMinor)) {
    fail(
      `Node ${wantMajor}.${wantMinor} or newer is needed, this is ${process.versions.node}. Install one from nodejs.org.`,
    );
  }
}

/**
 * True when node_modules holds every package of package-lock.json in its version. npm writes its own list of what it
 * installed as its last step, so a broken-off install does not pass; an install by hand does.
 */
function isInstalled() {
  const wanted = packagesOf(join(root, 'package-lock.json'));
  const present = packagesOf(join(modules, '.package-lock.json'));
  if (wanted === undefined) fail('package-lock.json is missing or broken. Restore it: git checkout package-lock.json');
  if (present === undefined) return false;
  for (const [path, entry] of Object.entries(wanted)) {
    // Optional packages are often those of other platforms.
    if (path === '' || entry.optional || entry.devOptional || entry.peer) continue;
    if (present[path]?.version !== entry.version) return false;
  }
  return true;
}

function packagesOf(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8')).packages;
  } catch {
    return undefined;
  }
}

/** Takes the install lock (a folder: making one is atomic everywhere). A lock whose holder is gone is taken over. */
function takeLock() {
  const end = Date.now() + INSTALL_WAIT_MS;
  for (;;) {
    try {
      mkdirSync(lockDir);
      writeFileSync(join(lockDir, 'pid'), String(process.pid));
      return;
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
    }
    if (!holderLives()) rmSync(lockDir, { recursive: true, force: true });
    else if (Date.now() > end) fail(`another install has held ${lockDir} for ten minutes. Remove it when none runs.`);
    else Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 500);
  }
}

function holderLives() {
  let pid;
  try {
    pid = Number(readFileSync(join(lockDir, 'pid'), 'utf8'));
  } catch {
    // Made a moment ago and not signed yet.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300);
    return existsSync(join(lockDir, 'pid'));
  }
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

/** Installs exactly what package-lock.json names. Nothing we use needs install scripts, so none run. */
function install() {
  takeLock();
  try {
    if (isInstalled()) return;
    process.stderr.write('Installing npm dependencies (once; about a minute) ...\n');
    const began = Date.now();
    const args = ['ci', '--no-audit', '--no-fund', '--ignore-scripts', '--include=dev', '--loglevel=error'];
    const npm = process.env.npm_execpath;
    const result = npm?.endsWith('.js')
      ? spawnSync(process.execPath, [npm, ...args], { cwd: root, stdio: ['ignore', 2, 2] })
      : spawnSync('npm', args, { cwd: root, stdio: ['ignore', 2, 2] });
    if (result.status !== 0) {
      fail('`npm ci` failed (its words are above). Check that the npm registry can be reached, then run this again.');
    }
    process.stderr.write(`Installed npm dependencies in ${Math.round((Date.now() - began) / 1000)} s.\n`);
  } finally {
    rmSync(lockDir, { recursive: true, force: true });
  }
}

function prepare() {
  checkNode();
  const command = process.argv[2] ?? '';
  const entry = ENTRIES[command];
  if (entry === undefined) fail(`unknown command '${command}'. Known: ${Object.keys(ENTRIES).join(', ')}.`);
  if (!isInstalled()) install();
  return join(root, entry);
}

try {
  const entry = prepare();
  // The entry reads its own arguments as if it had been started directly.
  process.argv.splice(1, 2, entry);
  process.chdir(root);
  // Both kinds: Temporal's SDK loads the failure converter with `require`.
  (await import('tsx/cjs/api')).register();
  (await import('tsx/esm/api')).register();
  await import(pathToFileURL(entry).href);
} catch (error) {
  if (!(error instanceof BootstrapError)) throw error;
  process.stderr.write(`holdfast: ${error.message}\n`);
  process.exitCode = 1;
}
