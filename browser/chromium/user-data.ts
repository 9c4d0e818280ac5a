import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, readdir, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { killSessionProcesses, killProcess, processesWith } from '../process/process-list.ts';
import { sessionFolderOf } from '../process/session-folder.ts';

/** Longest system temporary folder to use, in bytes: a socket's path is limited to 107. */
const MAX_TMPDIR_BYTES = 45;

/**
 * URLs that neither pages nor clients may open: they expose host files or browser internals. They are written to the
 * preferences of each user-data folder, which works like an administrator's policy without touching the host.
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

/** Maximum extensions per browser. */
export const MAX_EXTENSIONS = 10;

/**
 * The folder of a browser's extensions, in subfolders 0, 1, 2 and so on. The session's processes and file operations
 * cannot reach it, so extensions stay as they were checked.
 */
export function extensionsFolderOf(userDataDir: string): string {
  return path.join(userDataDir, 'Unpacked');
}

/** URLs of extensions loaded from those folders: Chromium derives an extension's id from its path. */
function extensionUrls(userDataDir: string): string[] {
  return Array.from({ length: MAX_EXTENSIONS }, (_, number) => {
    const folder = path.join(extensionsFolderOf(userDataDir), String(number));
    const digits = createHash('sha256').update(folder).digest('hex').slice(0, 32);
    const id = digits.replaceAll(/./g, (digit) => String.fromCodePoint(97 + Number.parseInt(digit, 16)));
    return `chrome-extension://${id}`;
  });
}

/** The parent of all user-data folders; leftovers are found by this path. */
export function sessionsFolder(workDir: string): string {
  return path.join(path.resolve(workDir), 'sessions');
}

/** Creates the private (0700) user-data folder of a browser, and its temporary folder. */
export async function createUserData(folder: string): Promise<void> {
  const profile = path.join(folder, 'Default');
  await mkdir(profile, { recursive: true, mode: 0o700 });
  await mkdir(temporaryFolderOf(folder), { mode: 0o700 });
  await mkdir(sessionFolderOf(folder).logs, { recursive: true, mode: 0o700 });
  const preferences = {
    // Pages of Chromium's built-in extensions stay blocked.
    policy: { url_blocklist: BLOCKED_URLS, url_allowlist: extensionUrls(await realpath(folder)) },
    credentials_enable_service: false,
    profile: { password_manager_enabled: false, exit_type: 'Normal' },
    autofill: { profile_enabled: false, credit_card_enabled: false },
    browser: { check_default_browser: false },
  };
  await writeFile(path.join(profile, 'Preferences'), JSON.stringify(preferences), { mode: 0o600 });
}

/**
 * The browser's own temporary folder, so that what a killed browser leaves there can be removed. It holds Chromium's
 * singleton socket, whose path must be short, so it cannot be inside the user-data folder.
 */
export function temporaryFolderOf(userDataDir: string): string {
  const base = Buffer.byteLength(tmpdir()) > MAX_TMPDIR_BYTES ? '/tmp' : tmpdir();
  return path.join(base, `hf-${createHash('sha256').update(userDataDir).digest('hex').slice(0, 12)}`);
}

/**
 * Removes a user-data folder and its temporary folder. It retries while exiting processes still write there; unreadable
 * folders, and paths longer than the system allows, are left to `chmod` and `rm`.
 */
export async function removeUserData(folder: string): Promise<void> {
  await rm(temporaryFolderOf(folder), { recursive: true, force: true, maxRetries: 10, retryDelay: 30 });
  await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 30 }).catch(async () => {
    // No process runs in the folder any more, so no folder can be replaced by a link in the meantime.
    await runTool('chmod', ['-R', 'u+rwX', '--', folder]);
    const code = await runTool('rm', ['-rf', '--', folder]);
    if (code !== 0) throw new Error(`Could not remove a session's directory: rm exited with ${String(code)}`);
  });
}

/** Resolves with the exit code. These tools descend by open directories instead of ever longer paths. */
async function runTool(program: string, args: string[]): Promise<number | null> {
  const child = spawn(program, args, { stdio: 'ignore' });
  const [code] = (await once(child, 'exit')) as [number | null];
  return code;
}

/**
 * Kills what a crashed service left behind (browsers of our sessions folder and their sessions' processes) and removes the
 * folder. Call it before the first browser starts. Browsers usually exit when their pipe closes, and isolated programs
 * with their parent; this is for those that hang, and for programs that are not isolated.
 */
export async function removeLeftovers(workDir: string): Promise<{ processes: number }> {
  const folder = sessionsFolder(workDir);
  const browsers = await processesWith('cmdline', (argument) => argument.startsWith(`--user-data-dir=${folder}/`));
  for (const pid of browsers) killProcess(pid);
  const programs = await killSessionProcesses(folder);
  const sessions = await readdir(folder).catch(() => []);
  await Promise.all(sessions.map((name) => removeUserData(path.join(folder, name))));
  await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  return { processes: browsers.length + programs };
}
