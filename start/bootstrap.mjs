// First step of every `npm run` command. Plain JavaScript on Node's own modules alone, because it runs right after
// `git clone`, when nothing is installed: it brings node_modules and the compiled code up to date, then hands over in this
// same process (no second process between npm and the program, so signals and exit codes need no passing on).
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { fileURLToPath, pathToFileURL } from 'node:url';

const OLDEST_NODE = [20, 19];
/** How long one start waits for another that installs or compiles, in milliseconds. */
const LOCK_WAIT_MS = 600_000;
/** A build that nobody has used for this long is removed, in milliseconds. A running tree uses its own every hour. */
const UNUSED_BUILD_MS = 86_400_000;

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const modules = join(root, 'node_modules');
const dist = join(root, 'dist');
const lockDir = join(root, '.install-lock');

/** Commands that run from sources: they work on the sources themselves. All others run compiled, by `start/cli.ts`. */
const FROM_SOURCES = { test: 'test/run.ts', bench: 'bench/main.ts' };
/** Folders at the top that hold nothing which is compiled. */
const NOT_COMPILED = ['node_modules', 'dist', 'test', 'bench', 'docs', 'coverage'];
const COMPILED = /(?<!\.d)\.(tsx?|mjs|py|css)$/;
/** What works on the sources stays with them. */
const ABOUT_SOURCES = ['start/bootstrap.mjs', 'start/build.ts'];

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
      `Node ${wantMajor}.${wantMinor} or newer is required, this is ${process.versions.node}; install it from nodejs.org`,
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
  if (wanted === undefined) fail('package-lock.json is missing or broken; restore it: git checkout package-lock.json');
  if (present === undefined) return false;
  for (const [path, entry] of Object.entries(wanted)) {
    if (path === '' || entry.devOptional || entry.peer) continue;
    if (entry.optional && !isForThisPlatform(entry)) continue;
    if (present[path]?.version !== entry.version) return false;
  }
  return true;
}

/** Optional packages are those of one platform each; one that names none may be missing. */
function isForThisPlatform({ os, cpu, libc }) {
  return libc === undefined && os?.includes(process.platform) === true && cpu?.includes(process.arch) === true;
}

function packagesOf(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8')).packages;
  } catch {
    return undefined;
  }
}

/** Does `work` while no other start of this checkout installs or compiles. A lock whose holder is gone is taken over. */
function locked(work) {
  takeLock();
  try {
    work();
  } finally {
    rmSync(lockDir, { recursive: true, force: true });
  }
}

/** Takes the lock (a folder: making one is atomic everywhere). */
function takeLock() {
  const end = Date.now() + LOCK_WAIT_MS;
  for (;;) {
    try {
      mkdirSync(lockDir);
      writeFileSync(join(lockDir, 'pid'), String(process.pid));
      return;
    } catch (error) {
      if (['EROFS', 'EACCES', 'EPERM'].includes(error.code)) {
        fail(
          `Cannot write to ${root} (${error.code}); run \`npm run build\` where it can be written, then start it here`,
        );
      }
      if (error.code !== 'EEXIST') throw error;
    }
    if (!holderLives()) rmSync(lockDir, { recursive: true, force: true });
    else if (Date.now() > end) fail(`Another start has held ${lockDir} for ten minutes; remove it when none runs`);
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
  if (isInstalled()) return;
  process.stderr.write('Installing npm dependencies (once; about a minute) ...\n');
  const began = Date.now();
  const args = ['ci', '--no-audit', '--no-fund', '--ignore-scripts', '--include=dev', '--loglevel=error'];
  const npm = process.env.npm_execpath;
  const result = npm?.endsWith('.js')
    ? spawnSync(process.execPath, [npm, ...args], { cwd: root, stdio: ['ignore', 2, 2] })
    : spawnSync('npm', args, { cwd: root, stdio: ['ignore', 2, 2] });
  if (result.status !== 0) {
    fail('`npm ci` failed (its words are above); check that the npm registry can be reached, then run this again');
  }
  process.stderr.write(`Installed npm dependencies in ${secondsSince(began)} s\n`);
}

/** All that is compiled, sorted, as paths from the root. */
function sourceFiles() {
  const rooms = readdirSync(root, { withFileTypes: true }).filter(
    (entry) => entry.isDirectory() && !entry.name.startsWith('.') && !NOT_COMPILED.includes(entry.name),
  );
  return rooms
    .flatMap(({ name }) => readdirSync(join(root, name), { recursive: true }).map((path) => `${name}/${path}`))
    .filter((path) => COMPILED.test(path) && !ABOUT_SOURCES.includes(path))
    .sort();
}

/** Folder of the compiled code. Its name is made from every source, so that code is never run that is not theirs. */
function buildFolder(files) {
  const hash = createHash('sha256');
  for (const file of [...files, 'start/build.ts', 'package-lock.json', 'tsconfig.json']) {
    hash
      .update(`${file}\0`)
      .update(readFileSync(join(root, file)))
      .update('\0');
  }
  return join(dist, hash.digest('hex').slice(0, 16));
}

/** Compiles `files` into `folder`, which appears whole or not at all. Of a folder that is `compiled` it makes a copy with types. */
function compile(files, folder, ...compiled) {
  process.stderr.write('Compiling (once after each change; some seconds) ...\n');
  const began = Date.now();
  const made = spawnSync(process.execPath, ['--import', 'tsx', join(root, 'start', 'build.ts'), folder, ...compiled], {
    cwd: root,
    input: files.join('\n'),
  });
  if (made.status !== 0) {
    process.stderr.write(made.stderr);
    fail('The code cannot be compiled (the reason is above)');
  }
  process.stderr.write(`Compiled in ${secondsSince(began)} s\n`);
}

/** The folder of the compiled code, brought up to date. */
function built() {
  const files = sourceFiles();
  const folder = buildFolder(files);
  if (!existsSync(folder)) {
    locked(() => {
      if (existsSync(folder)) return;
      removeUnusedBuilds();
      compile(files, folder);
    });
  }
  touch(folder);
  return folder;
}

/** Removes builds of other sources, those aside that may be running, and what a killed build has left. */
function removeUnusedBuilds() {
  if (!existsSync(dist)) return;
  for (const name of readdirSync(dist)) {
    const path = join(dist, name);
    const isDraft = name.startsWith('.');
    const isUnused = /^[0-9a-f]{16}$/.test(name) && Date.now() - statSync(path).mtimeMs > UNUSED_BUILD_MS;
    if (isDraft || isUnused) rmSync(path, { recursive: true, force: true });
  }
}

function touch(folder) {
  try {
    utimesSync(folder, new Date(), new Date());
  } catch {
    // A read-only checkout: nobody removes builds there.
  }
}

function secondsSince(began) {
  return Math.round((Date.now() - began) / 1000);
}

/** The module that does what the command says. */
function prepare([command = '']) {
  checkNode();
  if (!isInstalled()) locked(install);
  if (command in FROM_SOURCES) return join(root, FROM_SOURCES[command]);
  if (command === 'package') {
    // For `npm pack`: at a place of its own, which package.json names, with types.
    const compiled = built();
    locked(() => compile([], join(dist, 'package'), compiled));
    return undefined;
  }
  const folder = built();
  return command === 'build' ? undefined : join(folder, 'start', 'cli.js');
}

try {
  const entry = prepare(process.argv.slice(2));
  if (entry !== undefined) {
    // The entry reads its own arguments as if it had been started directly.
    process.argv.splice(1, entry.endsWith('.ts') ? 2 : 1, entry);
    process.chdir(root);
    if (entry.endsWith('.ts')) {
      // Both kinds: Temporal's SDK loads the failure converter with `require`.
      (await import('tsx/cjs/api')).register();
      (await import('tsx/esm/api')).register();
    }
    await import(pathToFileURL(entry).href);
  }
} catch (error) {
  if (!(error instanceof BootstrapError)) throw error;
  process.stderr.write(`holdfast: ${error.message}\n`);
  process.exitCode = 1;
}
