import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readlink, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { sessionFolderOf } from '../process/session-folder.ts';

/** Name of the folder, inside the work folder, that holds one folder per running browser. */
const SESSIONS_FOLDER = 'sessions';

/** How Chromium, under any of its names, calls the folder of its socket: `org.chromium.Chromium.x4Kf0a`. */
const SOCKET_FOLDER = /^(?:org\.chromium\.Chromium|com\.google\.Chrome)\.\w+$/;

/**
 * Addresses no page and no client may open: they show the host's files or the browser's own insides. Preferences of a
 * fresh user-data folder carry the same list that an administrator's policy would, without writing to the host.
 */
export const BLOCKED_URLS = [
  'file://*',
  'chrome://*',
  'chrome-untrusted://*',
  'devtools://*',
  'view-source:*',
  'filesystem:*',
  'chrome-extension://*',
];

/** Where the browsers of a service keep their temporary folders; leftovers are found by this path. */
export function sessionsFolder(workDir: string): string {
  return path.join(path.resolve(workDir), SESSIONS_FOLDER);
}

/** Makes the private (0700) user-data folder of one browser. */
export async function createUserData(workDir: string, name: string): Promise<string> {
  const folder = path.join(sessionsFolder(workDir), name);
  const profile = path.join(folder, 'Default');
  await mkdir(profile, { recursive: true, mode: 0o700 });
  await mkdir(sessionFolderOf(folder).logs, { recursive: true, mode: 0o700 });
  const preferences = {
    policy: { url_blocklist: BLOCKED_URLS },
    credentials_enable_service: false,
    profile: { password_manager_enabled: false, exit_type: 'Normal' },
    autofill: { profile_enabled: false, credit_card_enabled: false },
    browser: { check_default_browser: false },
  };
  await writeFile(path.join(profile, 'Preferences'), JSON.stringify(preferences), { mode: 0o600 });
  return folder;
}

/**
 * Removes it, with everything the browser and the session's processes left there, and the folder of the browser's own
 * socket, which a killed browser leaves behind. Files of processes that are just dying make it try again; what was made
 * unreadable, or deeper than a path can be long, is left to the system's tools.
 */
export async function removeUserData(folder: string): Promise<void> {
  await removeSocketFolder(folder);
  await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 30 }).catch(async () => {
    // Nobody works in the folder any more, so that no link can take the place of a folder meanwhile.
    await runTool('chmod', ['-R', 'u+rwX', '--', folder]);
    const code = await runTool('rm', ['-rf', '--', folder]);
    if (code !== 0) throw new Error(`a session's folder could not be removed: rm ended with ${String(code)}`);
  });
}

/** Resolves with the exit code. These go from folder to folder by what they hold open, not by ever longer paths. */
async function runTool(program: string, args: string[]): Promise<number | null> {
  const child = spawn(program, args, { stdio: 'ignore' });
  const [code] = (await once(child, 'exit')) as [number | null];
  return code;
}

/**
 * Chromium keeps the socket by which a second start finds the first in a folder of the system's temporary one (its path
 * must be short), and a link to it in the user-data folder.
 */
async function removeSocketFolder(userDataDir: string): Promise<void> {
  const socket = await readlink(path.join(userDataDir, 'SingletonSocket')).catch(() => null);
  if (socket === null || path.dirname(path.dirname(socket)) !== tmpdir()) return;
  if (!SOCKET_FOLDER.test(path.basename(path.dirname(socket)))) return;
  await rm(path.dirname(socket), { recursive: true, force: true });
}
