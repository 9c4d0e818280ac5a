import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startChild, type RunningChild } from '../../start/child-process.ts';
import { findOnPath, isExecutable, lastLine, run } from '../../start/setup/command.ts';
import { withProgress } from '../../start/setup/progress.ts';
import { SetupError } from '../../start/setup/setup-error.ts';
import { cacheRoot, installAtomically } from '../../start/setup/tools.ts';
import { freePortBlock } from './free-port-block.ts';

/** The version of MinIO to build: the last one published as a Go module. */
const MINIO_VERSION = '0.0.0-20260212201848-7aac2a2c5b7c';
const MODULE = `github.com/minio/minio@v${MINIO_VERSION}`;
const NAME = `minio-${MINIO_VERSION}`;

/** A MinIO server with STS, whose data survives a kill. */
export interface Minio {
  endpoint: string;
  credentials: { accessKeyId: string; secretAccessKey: string };
  /** Kills it, like a lost machine. */
  kill(): Promise<void>;
  /** Starts it again on the same data. */
  start(): Promise<void>;
  /** Stops it and deletes its data. */
  stop(): Promise<void>;
}

/** Starts a server in its own folder. */
export async function startMinio(): Promise<Minio> {
  const program = await findMinio();
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-minio-'));
  const address = `127.0.0.1:${String(await freePortBlock(1))}`;
  const endpoint = `http://${address}`;
  const credentials = { accessKeyId: 'root-of-the-test', secretAccessKey: 'secret-of-the-test' };
  const env = {
    ...process.env,
    HOME: folder,
    MINIO_ROOT_USER: credentials.accessKeyId,
    MINIO_ROOT_PASSWORD: credentials.secretAccessKey,
    MINIO_BROWSER: 'off',
  };
  let server: RunningChild | null = null;
  const start = async (): Promise<void> => {
    server = await startChild(
      {
        name: 'minio',
        program,
        args: ['server', '--address', address, join(folder, 'data')],
        env,
        kind: 'foreign',
        probe: async () => (await fetch(`${endpoint}/minio/health/ready`)).ok,
        stage: 0,
        readyWithinMs: 120_000,
        stopWithinMs: 20_000,
      },
      folder,
    );
    await server.ready;
  };
  await start();
  return {
    endpoint,
    credentials,
    start,
    async kill() {
      const { pid, ended } = server ?? {};
      if (pid !== undefined) process.kill(-pid, 'SIGKILL');
      await ended;
    },
    async stop() {
      await server?.stop(() => undefined);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Path of `minio`: on PATH, else cached, else built with Go. */
async function findMinio(): Promise<string> {
  const cached = join(cacheRoot(), NAME, 'minio');
  const found = (await findOnPath(['minio'])) ?? ((await isExecutable(cached)) ? cached : undefined);
  if (found !== undefined) return found;
  const go = await findOnPath(['go'], `${process.env.PATH ?? ''}:/usr/local/go/bin`);
  if (go === undefined) throw missing('Go was not found');
  await withProgress('Building MinIO with Go (about 10 minutes, once)', () =>
    installAtomically(NAME, async (folder) => {
      const built = await run(go, ['install', MODULE], { env: { ...process.env, GOBIN: folder } });
      if (!built.ok) throw missing(`\`go install ${MODULE}\` failed (${lastLine(built.output)})`);
    }),
  );
  return cached;
}

function missing(why: string): SetupError {
  return new SetupError(`No MinIO server: ${why}; install MinIO so that \`minio\` is on PATH`);
}
