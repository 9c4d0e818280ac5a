import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import type { BwrapAbilities, BwrapMode } from './bwrap.ts';
import { createBwrapIsolation } from './bwrap.ts';
import type { Isolation, ProcessUser } from './isolation.ts';
import type { ProcessLimits } from './limits.ts';
import { DEFAULT_LIMITS } from './limits.ts';
import { createSessionFolder, sessionFolderOf } from './session-folder.ts';
import { createUnisolated } from './isolation.ts';

const run = promisify(execFile);

/** Timeout of one probe, in milliseconds. */
const PROBE_TIMEOUT_MS = 10_000;

/** The operator's settings. */
interface IsolationChoices {
  /** A writable folder. */
  workDir: string;
  /** Run processes on the machine itself if nothing can isolate them (BROWSER_ALLOW_UNSANDBOXED_PROCESSES). */
  allowUnsandboxed: boolean;
  /** Give isolated processes the machine's network (BROWSER_ALLOW_PROCESS_NETWORK). */
  network: boolean;
  limits: ProcessLimits;
}

/** Probes how processes can be isolated on this machine; null if they must not run at all. */
export async function chooseIsolation(choices: IsolationChoices): Promise<Isolation | null> {
  const abilities = process.platform === 'linux' ? await probeBwrap(choices.workDir) : null;
  const { network, limits } = choices;
  if (abilities !== null) return createBwrapIsolation({ ...abilities, network, limits });
  return choices.allowUnsandboxed ? createUnisolated(limits) : null;
}

async function probeBwrap(workDir: string): Promise<BwrapAbilities | null> {
  await mkdir(workDir, { recursive: true });
  const folder = await mkdtemp(path.join(workDir, 'probe-'));
  try {
    const modes: BwrapMode[] = process.getuid?.() === 0 ? ['drop', 'map'] : ['map'];
    for (const mode of modes) {
      // A user namespace may be forbidden even if becoming another user is not.
      for (const root of mode === 'drop' ? [true, false] : [true]) {
        for (const proc of [true, false]) {
          const abilities = { mode, proc, root };
          if ((await probeUserId(folder, abilities, 'user')) === null) continue;
          return { ...abilities, root: root && (await probeUserId(folder, abilities, 'root')) === '0' };
        }
      }
    }
    return null;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** The user id a command sees in the sandbox; null if it cannot start. */
async function probeUserId(parent: string, abilities: BwrapAbilities, user: ProcessUser): Promise<string | null> {
  const isolation = createBwrapIsolation({ ...abilities, network: false, limits: DEFAULT_LIMITS });
  // A new folder for each probe: files owned by another user would get in the way.
  const folder = sessionFolderOf(await mkdtemp(path.join(parent, 'try-')));
  await createSessionFolder(folder, isolation.owner);
  const envFile = path.join(folder.work, 'probe.env');
  const optionsFile = path.join(folder.work, 'probe.options');
  await writeFile(envFile, '', { mode: 0o600 });
  const inside = { command: 'id', args: ['-u'], cwd: '/tmp', user, envFile, optionsFile, display: null, mounts: [] };
  const { program, args, env } = await isolation.wrap(folder, inside);
  try {
    const { stdout } = await run(program, args, { env, timeout: PROBE_TIMEOUT_MS });
    return stdout.trim();
  } catch {
    return null;
  }
}
