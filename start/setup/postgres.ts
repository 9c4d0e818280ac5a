import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmod, chown, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import pg from 'pg';
import { aptInstall, canAptInstall, findOnPath, isExecutable, lastLine, run, versionFolders } from './command.ts';
import { withProgress } from './progress.ts';
import { SetupError } from './setup-error.ts';

/** A Postgres server of our own for one test run. */
export interface TestPostgres {
  /** Connection URL of a superuser on an empty server. Tests make databases of their own in it. */
  url: string;
  /** Stops the server and removes its folder. */
  stop(): Promise<void>;
}

const READY_TIMEOUT_MS = 30_000;

/**
 * A Postgres for tests. TEST_DATABASE_URL when set; else a server's binaries, found or installed by apt-get, started in
 * a temporary folder on a free port of loopback. Rejects with a {@link SetupError} that says how to get one.
 */
export async function startTestPostgres(configured = process.env.TEST_DATABASE_URL): Promise<TestPostgres> {
  if (configured !== undefined && configured !== '') return { url: configured, stop: () => Promise.resolve() };
  return startServer(await findPostgresBinaries());
}

/** Folder of the binaries `initdb` and `postgres`. */
export async function findPostgresBinaries(): Promise<string> {
  const found = await findInstalled();
  if (found !== undefined) return found;
  let why = 'no `initdb` and `postgres` on PATH or under /usr/lib/postgresql';
  if (await canAptInstall()) {
    const installed = await withProgress('Installing Postgres with apt-get (for the store tests)', (progress) =>
      aptInstall(['postgresql'], (line) => {
        progress.note(line.slice(0, 40));
      }),
    );
    const fromDebian = await findInstalled();
    if (fromDebian !== undefined) return fromDebian;
    why = `apt-get failed (${lastLine(installed.output)})`;
  }
  throw new SetupError(
    `No Postgres server for the store tests: ${why}. Install one (Debian: apt-get install postgresql; macOS: brew ` +
      'install postgresql) or set TEST_DATABASE_URL to the superuser of a server kept for tests.',
  );
}

async function findInstalled(): Promise<string | undefined> {
  const folders = (await versionFolders('/usr/lib/postgresql')).map((folder) => join(folder, 'bin'));
  const onPath = await findOnPath(['postgres']);
  if (onPath !== undefined) folders.unshift(dirname(onPath));
  for (const folder of folders) {
    if ((await isExecutable(join(folder, 'initdb'))) && (await isExecutable(join(folder, 'postgres')))) return folder;
  }
  return undefined;
}

async function startServer(binaries: string): Promise<TestPostgres> {
  const user = await unprivilegedUser();
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-pg-'));
  const data = join(folder, 'data');
  const passwordFile = join(folder, 'password');
  const password = randomBytes(16).toString('hex');
  try {
    await writeFile(passwordFile, password, { mode: 0o600 });
    await chmod(folder, 0o700);
    if (user !== undefined) {
      await chown(folder, user.uid, user.gid);
      await chown(passwordFile, user.uid, user.gid);
    }
    await collect(
      spawn(
        join(binaries, 'initdb'),
        [
          '-D',
          data,
          '-U',
          'postgres',
          '-A',
          'scram-sha-256',
          `--pwfile=${passwordFile}`,
          '-E',
          'UTF8',
          '--locale=C',
          '-N',
        ],
        { ...user, cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] },
      ),
    );
    const port = await freePort();
    // A shell between us and the server: it ends the server when our end of its standard input closes, however we die.
    const server = spawn(
      '/bin/sh',
      [
        '-c',
        'exec 3<&0; "$@" </dev/null & p=$!; (read -r _ <&3; kill -INT $p) & wait $p',
        'sh',
        join(binaries, 'postgres'),
        ...['-D', data, '-k', folder, '-c', 'listen_addresses=127.0.0.1', '-p', String(port)],
        ...[
          '-c',
          'fsync=off',
          '-c',
          'synchronous_commit=off',
          '-c',
          'full_page_writes=off',
          '-c',
          'max_connections=200',
        ],
      ],
      { ...user, cwd: folder, stdio: ['pipe', 'pipe', 'pipe'] },
    );
    let output = '';
    server.stdout.resume();
    server.stderr.on('data', (chunk: Buffer) => {
      output = (output + chunk.toString('utf8')).slice(-4_000);
    });
    const url = `postgresql://postgres:${password}@127.0.0.1:${String(port)}/postgres`;
    await untilReady(url, () => (server.exitCode === null ? undefined : lastLine(output)));
    return {
      url,
      async stop() {
        const ended = new Promise((resolve) => server.once('close', resolve));
        server.stdin.end();
        if (server.exitCode === null) await ended;
        await rm(folder, { recursive: true, force: true });
      },
    };
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    const why = error instanceof Error ? error.message : 'unknown fault';
    throw new SetupError(`Postgres in ${binaries} did not start: ${why}. Or set TEST_DATABASE_URL.`);
  }
}

/** Postgres refuses to run as root: whom it runs as instead. */
async function unprivilegedUser(): Promise<{ uid: number; gid: number } | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  for (const name of ['postgres', 'nobody']) {
    const uid = await run('id', ['-u', name]);
    const gid = await run('id', ['-g', name]);
    if (uid.ok && gid.ok) return { uid: Number(uid.output), gid: Number(gid.output) };
  }
  throw new Error('running as root, and there is no user `postgres` or `nobody` to run it as');
}

function collect(child: ReturnType<typeof spawn>): Promise<void> {
  return new Promise((resolve, reject) => {
    let output = '';
    const take = (chunk: Buffer): void => {
      output += chunk.toString('utf8');
    };
    child.stdout?.on('data', take);
    child.stderr?.on('data', take);
    child.on('error', reject);
    child.on('close', (code) => {
      if (code === 0) resolve();
      else reject(new Error(lastLine(output)));
    });
  });
}

async function untilReady(url: string, failed: () => string | undefined): Promise<void> {
  const end = Date.now() + READY_TIMEOUT_MS;
  for (;;) {
    const reason = failed();
    if (reason !== undefined) throw new Error(reason);
    const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 2_000 });
    try {
      await client.connect();
      await client.end();
      return;
    } catch (error) {
      if (Date.now() > end) throw error;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}

/** A port of loopback that is free now. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.on('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => {
        if (address !== null && typeof address === 'object') resolve(address.port);
        else reject(new Error('no port'));
      });
    });
  });
}
