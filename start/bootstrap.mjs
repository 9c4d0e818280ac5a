// The first step of every `npm run` command. It is plain JavaScript with only Node's own modules, because it runs right after
// `git clone`, before anything is installed. It updates node_modules and the compiled code, then continues in the same process,
// so that signals and exit codes need no forwarding.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { fileURLToPath, pathToFileURL } from 'node:url';

const OLDEST_NODE = [20, 19];
/** How long a start waits for another one that installs or compiles, in milliseconds. */
const LOCK_WAIT_MS = 600_000;
/** Builds unused for this long are removed, in milliseconds. A running tree marks its build as used every hour. */
const BUILD_RETENTION_MS = 86_400_000;

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const modules = join(root, 'node_modules');
const dist = join(root, 'dist');
const lockDir = join(root, '.install-lock');

/** Commands that run from sources. All others run compiled, through `start/cli.ts`. */
const FROM_SOURCES = { test: 'test/run.ts', bench: 'bench/main.ts' };
/** Top-level folders without compiled code. */
const NOT_COMPILED = ['node_modules', 'dist', 'test', 'bench', 'docs', 'coverage'];
const COMPILED = /(?<!\.d)\.(tsx?|mjs|py|css)$/;
/** Files that work on the sources are not compiled. */
const SOURCE_TOOLS = ['start/bootstrap.mjs', 'start/build.ts'];

/** Shown as one line instead of a stack trace. */
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
 * True if node_modules contains every package of package-lock.json in its version. npm writes its list of installed packages
 * last, so an interrupted install does not pass; a manual install does.
 */
function isInstalled() {
  const wanted = readPackages(join(root, 'package-lock.json'));
  const present = readPackages(join(modules, '.package-lock.json'));
  if (wanted === undefined) fail('package-lock.json is missing or broken; restore it: git checkout package-lock.json');
  if (present === undefined) return false;
  for (const [path, entry] of Object.entries(wanted)) {
    if (path === '' || entry.devOptional || entry.peer) continue;
    if (entry.optional && !isForThisPlatform(entry)) continue;
    if (present[path]?.version !== entry.version) return false;
  }
  return true;
}

/** Optional packages are specific to a platform; one without a platform may be missing. */
function isForThisPlatform({ os, cpu, libc }) {
  return libc === undefined && os?.includes(process.platform) === true && cpu?.includes(process.arch) === true;
}

function readPackages(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8')).packages;
  } catch {
    return undefined;
  }
}

/** Runs `work` while no other start of this checkout installs or compiles. Takes over the lock of a dead process. */
function withLock(work) {
  acquireLock();
  try {
    work();
  } finally {
    rmSync(lockDir, { recursive: true, force: true });
  }
}

/** Acquires the lock, a folder, because creating one is atomic everywhere. */
function acquireLock() {
  const end = Date.now() + LOCK_WAIT_MS;
  for (;;) {
    try {
      mkdirSync(lockDir);
      writeFileSync(join(lockDir, 'pid'), String(process.pid));
      return;
    } catch (error) {
      if (['EROFS', 'EACCES', 'EPERM'].includes(error.code)) {
        fail(`Cannot write to ${root} (${error.code}); run \`npm run build\` where it is writable, then start it here`);
      }
      if (error.code !== 'EEXIST') throw error;
    }
    if (!isHolderAlive()) rmSync(lockDir, { recursive: true, force: true });
    else if (Date.now() > end) fail(`Another start has held ${lockDir} for ten minutes; remove it if none is running`);
    else Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 500);
  }
}

function isHolderAlive() {
  let pid;
  try {
    pid = Number(readFileSync(join(lockDir, 'pid'), 'utf8'));
  } catch {
    // Created a moment ago, without a process id yet.
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

/** Installs exactly the packages of package-lock.json. None of them needs install scripts, so none run. */
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
    fail('`npm ci` failed (see its output above); check that the npm registry is reachable, then run this again');
  }
  process.stderr.write(`Installed npm dependencies in ${secondsSince(began)} s\n`);
}

/** All compiled sources, sorted, as paths from the root. */
function sourceFiles() {
  const topFolders = readdirSync(root, { withFileTypes: true }).filter(
    (entry) => entry.isDirectory() && !entry.name.startsWith('.') && !NOT_COMPILED.includes(entry.name),
  );
  return topFolders
    .flatMap(({ name }) => readdirSync(join(root, name), { recursive: true }).map((path) => `${name}/${path}`))
    .filter((path) => COMPILED.test(path) && !SOURCE_TOOLS.includes(path))
    .sort();
}

/** The folder of the compiled code, named after a hash of all sources, so that outdated code never runs. */
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

/** Compiles `files` into `folder` atomically. From an already `compiled` folder it creates a copy with type declarations. */
function compile(files, folder, ...compiled) {
  process.stderr.write('Compiling (once after each change; some seconds) ...\n');
  const began = Date.now();
  const made = spawnSync(process.execPath, ['--import', 'tsx', join(root, 'start', 'build.ts'), folder, ...compiled], {
    cwd: root,
    input: files.join('\n'),
  });
  if (made.status !== 0) {
    process.stderr.write(made.stderr);
    fail('The code cannot be compiled (see the reason above)');
  }
  process.stderr.write(`Compiled in ${secondsSince(began)} s\n`);
}

/** Returns the folder of the up-to-date compiled code. */
function ensureBuild() {
  const files = sourceFiles();
  const folder = buildFolder(files);
  if (!existsSync(folder)) {
    withLock(() => {
      if (existsSync(folder)) return;
      removeUnusedBuilds();
      compile(files, folder);
    });
  }
  touch(folder);
  return folder;
}

/** Removes unused builds, and leftovers of killed ones. */
function removeUnusedBuilds() {
  if (!existsSync(dist)) return;
  for (const name of readdirSync(dist)) {
    const path = join(dist, name);
    const isDraft = name.startsWith('.');
    const isUnused = /^[0-9a-f]{16}$/.test(name) && Date.now() - statSync(path).mtimeMs > BUILD_RETENTION_MS;
    if (isDraft || isUnused) rmSync(path, { recursive: true, force: true });
  }
}

function touch(folder) {
  try {
    utimesSync(folder, new Date(), new Date());
  } catch {
    // A read-only checkout, where no builds are removed.
  }
}

function secondsSince(began) {
  return Math.round((Date.now() - began) / 1000);
}

/** Prepares a command and returns its entry module. */
function prepare([command = '']) {
  checkNode();
  if (!isInstalled()) withLock(install);
  if (command in FROM_SOURCES) return join(root, FROM_SOURCES[command]);
  if (command === 'package') {
    // For `npm pack`: in the folder that package.json refers to, with type declarations.
    const compiled = ensureBuild();
    withLock(() => compile([], join(dist, 'package'), compiled));
    return undefined;
  }
  const folder = ensureBuild();
  return command === 'build' ? undefined : join(folder, 'start', 'cli.js');
}

try {
  const entry = prepare(process.argv.slice(2));
  if (entry !== undefined) {
    // The entry reads its arguments as if it was started directly.
    process.argv.splice(1, entry.endsWith('.ts') ? 2 : 1, entry);
    process.chdir(root);
    if (entry.endsWith('.ts')) {
      // Both loaders, because Temporal's SDK loads the failure converter with `require`.
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
