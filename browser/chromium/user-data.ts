import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, readdir, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { killSessionProcesses, killProcess, processesWith } from '../process/process-list.ts';
import { sessionFolderOf } from '../process/session-folder.ts';

/** Name of the folder, inside the work folder, that holds one folder per running browser. */
const SESSIONS_FOLDER = 'sessions';

/** Longest system's temporary folder, in bytes, below which a browser's own is made: a socket's path has 107 at most. */
const LONGEST_TEMPORARY = 45;

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

/** Extensions that one browser has at most. */
export const MAX_EXTENSIONS = 10;

/**
 * The folder of a browser's extensions, each in one of the first numbers. The session's processes and files operations do not
 * reach it: what was judged stays.
 */
export function extensionsFolderOf(userDataDir: string): string {
  return path.join(userDataDir, 'Unpacked');
}

/** Pages of extensions that will be loaded from those folders: Chromium makes an id of where an extension lies. */
function pagesOfExtensions(userDataDir: string): string[] {
  return Array.from({ length: MAX_EXTENSIONS }, (_, number) => {
    const folder = path.join(extensionsFolderOf(userDataDir), String(number));
    const digits = createHash('sha256').update(folder).digest('hex').slice(0, 32);
    const id = digits.replaceAll(/./g, (digit) => String.fromCodePoint(97 + Number.parseInt(digit, 16)));
    return `chrome-extension://${id}`;
  });
}

/** Where the browsers of a service keep their temporary folders; leftovers are found by this path. */
export function sessionsFolder(workDir: string): string {
  return path.join(path.resolve(workDir), SESSIONS_FOLDER);
}

/** Makes the private (0700) user-data folder of one browser, and its temporary folder. */
export async function createUserData(folder: string): Promise<void> {
  const profile = path.join(folder, 'Default');
  await mkdir(profile, { recursive: true, mode: 0o700 });
  await mkdir(temporaryFolderOf(folder), { mode: 0o700 });
  await mkdir(sessionFolderOf(folder).logs, { recursive: true, mode: 0o700 });
  const preferences = {
    // Of extensions, the browser's own stay shut.
    policy: { url_blocklist: BLOCKED_URLS, url_allowlist: pagesOfExtensions(await realpath(folder)) },
    credentials_enable_service: false,
    profile: { password_manager_enabled: false, exit_type: 'Normal' },
    autofill: { profile_enabled: false, credit_card_enabled: false },
    browser: { check_default_browser: false },
  };
  await writeFile(path.join(profile, 'Preferences'), JSON.stringify(preferences), { mode: 0o600 });
}

/**
 * The browser's own temporary folder, which {@link createUserData} makes. A killed browser leaves there the folder of the
 * socket by which a second start finds the first, and what it was about to unlink; that socket's path must be short, so
 * the user-data folder cannot hold it.
 */
export function temporaryFolderOf(userDataDir: string): string {
  const base = Buffer.byteLength(tmpdir()) > LONGEST_TEMPORARY ? '/tmp' : tmpdir();
  return path.join(base, `hf-${createHash('sha256').update(userDataDir).digest('hex').slice(0, 12)}`);
}

/**
 * Removes it, with everything the browser and the session's processes left there, and its temporary folder. Files of
 * processes that are just dying make it try again; what was made unreadable, or deeper than a path can be long, is left
 * to the system's tools.
 */
export async function removeUserData(folder: string): Promise<void> {
  await rm(temporaryFolderOf(folder), { recursive: true, force: true, maxRetries: 10, retryDelay: 30 });
  await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 30 }).catch(async () => {
    // Nobody works in the folder any more, so that no link can take the place of a folder meanwhile.
    await runTool('chmod', ['-R', 'u+rwX', '--', folder]);
    const code = await runTool('rm', ['-rf', '--', folder]);
    if (code !== 0) throw new Error(`Could not remove a session's directory: rm exited with ${String(code)}`);
  });
}

/** Resolves with the exit code. These go from folder to folder by what they hold open, not by ever longer paths. */
async function runTool(program: string, args: string[]): Promise<number | null> {
  const child = spawn(program, args, { stdio: 'ignore' });
  const [code] = (await once(child, 'exit')) as [number | null];
  return code;
}

/**
 * Ends what a dead service left behind: browsers whose command line names our sessions folder, what ran for their sessions,
 * then the folder itself. Call it before the first browser starts. Browsers end themselves when their pipe closes, and
 * isolated programs with their parent; this is for those that hang, and for programs that nothing isolates.
 */
export async function removeLeftovers(workDir: string): Promise<{ processes: number }> {
  const folder = sessionsFolder(workDir);
  const found = await processesWith('cmdline', (argument) => argument.startsWith(`--user-data-dir=${folder}/`));
  for (const pid of found) killProcess(pid);
  const programs = await killSessionProcesses(folder);
  const sessions = await readdir(folder).catch(() => []);
  await Promise.all(sessions.map((name) => removeUserData(path.join(folder, name))));
  await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  return { processes: found.length + programs };
}
