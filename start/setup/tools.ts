import { createWriteStream, existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { fetch } from 'undici';
import { z } from 'zod';
import { lastLine, run } from './command.ts';
import type { Progress } from './progress.ts';

/** A host that does not respond within this time counts as unreachable, so that setup stays fast without network. */
const CONNECT_TIMEOUT_MS = 8_000;
const DOWNLOAD_TIMEOUT_MS = 600_000;

const ArtifactInfo = z.object({ archiveUrl: z.url(), fileToExtract: z.string() });
/** The URL of an artifact, and the program in its archive. */
export type ArtifactInfo = z.infer<typeof ArtifactInfo>;

/** True if the host of `url` responds at all within a few seconds. */
export async function isReachable(url: string, get: typeof fetch = fetch): Promise<boolean> {
  try {
    await get(url, { method: 'HEAD', redirect: 'manual', signal: AbortSignal.timeout(CONNECT_TIMEOUT_MS) });
    return true;
  } catch {
    return false;
  }
}

/**
 * Asks Temporal's download service (which the SDKs use) for a program for this machine. Undefined if it is unreachable or has
 * none.
 */
export async function temporalArtifact(
  artifact: 'cli' | 'temporal-test-server',
  version: string,
  get: typeof fetch = fetch,
): Promise<ArtifactInfo | undefined> {
  const query = new URLSearchParams({
    platform: process.platform,
    arch: process.arch === 'x64' ? 'amd64' : process.arch,
    format: 'tar.gz',
    'sdk-name': 'sdk-typescript',
  });
  const url = `https://temporal.download/${artifact}/${version}?${query.toString()}`;
  try {
    const response = await get(url, { signal: AbortSignal.timeout(CONNECT_TIMEOUT_MS) });
    if (!response.ok) return undefined;
    const parsed = ArtifactInfo.safeParse(await response.json());
    return parsed.success ? parsed.data : undefined;
  } catch {
    return undefined;
  }
}

/** Downloads `url` into `file`, reporting progress in bytes. Rejects unless the file is complete. */
export async function download(
  url: string,
  file: string,
  progress: Progress,
  get: typeof fetch = fetch,
): Promise<void> {
  const response = await get(url, { signal: AbortSignal.timeout(DOWNLOAD_TIMEOUT_MS) });
  if (!response.ok || !response.body) throw new Error(`HTTP ${String(response.status)}`);
  const total = Number(response.headers.get('content-length') ?? 0);
  let done = 0;
  const count = new Transform({
    transform(chunk: Buffer, _encoding, next) {
      done += chunk.length;
      progress.step(done, total);
      next(null, chunk);
    },
  });
  await pipeline(Readable.fromWeb(response.body), count, createWriteStream(file));
}

/** Downloads a tar.gz and extracts one file as the executable `<folder>/<program>`. */
export async function downloadProgram(
  url: string,
  fileInArchive: string,
  folder: string,
  program: string,
  progress: Progress,
): Promise<void> {
  const archive = join(folder, 'archive.tar.gz');
  await download(url, archive, progress);
  const unpacked = await run('tar', ['-xzf', archive, '-C', folder]);
  if (!unpacked.ok) throw new Error(lastLine(unpacked.output));
  if (fileInArchive !== program) await rename(join(folder, fileInArchive), join(folder, program));
  await run('rm', ['-f', archive]);
  await chmod(join(folder, program), 0o755);
}

/** Cache folder for downloaded and built tools, shared by all checkouts of a user. */
export function cacheRoot(env: NodeJS.ProcessEnv = process.env): string {
  const base = env.XDG_CACHE_HOME;
  return join(base !== undefined && base !== '' ? base : join(homedir(), '.cache'), 'holdfast');
}

/**
 * Creates `<cache>/<name>` by filling a temporary folder and renaming it, so that it never exists incomplete. Of concurrent
 * calls, the first rename wins and the others use its result. Returns the final path.
 */
export async function installAtomically(
  name: string,
  fill: (folder: string) => Promise<void>,
  root = cacheRoot(),
): Promise<string> {
  const target = join(root, name);
  await mkdir(root, { recursive: true });
  const work = await mkdtemp(join(root, `.${name}-`));
  try {
    await fill(work);
    try {
      await rename(work, target);
    } catch (error) {
      // Renaming onto a non-empty folder fails: another process was faster, and its result is equivalent.
      if (!existsSync(target)) throw error;
    }
    return target;
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}
