import type { ChildProcess, StdioOptions } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, chown, mkdir, mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import Kernel from '@onkernel/sdk';
import { inject } from 'vitest';
import type { BrowserServiceOptions } from '../../browser/service.ts';
import { API_KEY } from './memory-profiles.ts';
import { serviceProgram } from './service-program.ts';

/** A user id that owns nothing on the machine and has no account. */
const ORDINARY_ID = 61_500;
/** Mounts a 64 MB file system at its work folder in a new namespace, then runs the program without capabilities. */
const ON_SMALL_DISK =
  'mount -t tmpfs -o size=64m,mode=0755 none "$WORK" && exec setpriv --ambient-caps=-all --inh-caps=-all --bounding-set=-all "$@"';
/** Forbids user namespaces inside a new one, then runs the program without capabilities. */
const WITHOUT_NAMESPACES =
  'echo 0 > /proc/sys/user/max_user_namespaces && exec setpriv --ambient-caps=-all --inh-caps=-all --bounding-set=-all "$@"';

/** The user of the tests and, if that is root, also an ordinary user. */
export const SERVICE_USERS = [
  ...(process.getuid?.() === 0 ? [{ as: 'root', ordinary: false }] : []),
  { as: 'an ordinary user', ordinary: true },
];

/** A service in a separate process, with a public client for it. */
export interface ForkedService {
  url: string;
  kernel: Kernel;
  workDir: string;
  pid: number;
  userId: number;
  /** Its log lines up to readiness, as JSON. */
  logs: string[];
  child: ChildProcess;
  stop(): Promise<void>;
}

/** Options of {@link startServiceAsUser}. */
export interface ServiceUser {
  /** True to run as a user that owns nothing if the tests run as root. Otherwise it runs as the tests' user. */
  ordinary: boolean;
  /** False to forbid user namespaces. */
  namespaces?: boolean;
  /** True for a work folder on a disk of 64 MB. */
  smallDisk?: boolean;
  options?: Partial<BrowserServiceOptions>;
}

export async function startServiceAsUser({
  ordinary,
  namespaces = true,
  smallDisk = false,
  options = {},
}: ServiceUser): Promise<ForkedService> {
  const own = process.getuid?.() ?? -1;
  const userId = ordinary && own === 0 ? ORDINARY_ID : own;
  const identity = userId === own ? {} : { uid: userId, gid: userId };
  const folder = await mkdtemp(path.join(os.tmpdir(), 'holdfast-user-'));
  const [workDir, temporary] = [path.join(folder, 'work'), path.join(folder, 'tmp')];
  await mkdir(temporary);
  await mkdir(workDir);
  await chmod(folder, 0o755);
  for (const place of [workDir, temporary]) await chown(place, userId, identity.gid ?? process.getgid?.() ?? -1);

  const program = serviceProgram('forked-service');
  const settings = JSON.stringify({ chromiumPath: inject('chromiumPath'), workDir, ...options });
  const node = [process.execPath, program, settings];
  const script = smallDisk ? ON_SMALL_DISK : WITHOUT_NAMESPACES;
  const unshared = [
    'unshare',
    '--user',
    '--map-current-user',
    '--keep-caps',
    '--mount',
    'sh',
    '-c',
    script,
    'sh',
    ...node,
  ];
  const [command = '', ...args] = namespaces && !smallDisk ? node : unshared;
  const stdio: StdioOptions = ['ignore', 'inherit', 'inherit', 'ipc'];
  const child = spawn(command, args, {
    stdio,
    env: { PATH: process.env.PATH, HOME: temporary, TMPDIR: temporary, WORK: workDir },
    ...identity,
  });
  const stop = async (): Promise<void> => {
    if (child.exitCode === null && child.signalCode === null) {
      const exited = once(child, 'exit');
      if (child.connected) child.disconnect();
      await exited;
    }
    await rm(folder, { recursive: true, force: true });
  };
  try {
    const { url, logs } = await new Promise<{ url: string; logs: string[] }>((resolve, reject) => {
      child.once('message', (message) => resolve(message as { url: string; logs: string[] }));
      child.once('error', reject);
      child.once('exit', () =>
        reject(new Error('the service did not start; check that its user can read the repository')),
      );
    });
    const kernel = new Kernel({ apiKey: API_KEY, baseURL: url, maxRetries: 0 });
    return { url, kernel, workDir, pid: child.pid ?? -1, userId, logs, child, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Whether ordinary users can create user namespaces on this machine. */
export async function namespacesAllowed(userId: number): Promise<boolean> {
  const identity = process.getuid?.() === userId ? {} : { uid: userId, gid: userId };
  const child = spawn('unshare', ['--user', 'true'], { stdio: 'ignore', ...identity });
  const [code] = (await once(child, 'exit')) as [number | null];
  return code === 0;
}
