import { readdir, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { killMarked } from '../process/marked.ts';
import { removeUserData, sessionsFolder } from './user-data.ts';

/**
 * Ends what a dead service left behind: browsers whose command line names our sessions folder, what ran for their sessions,
 * then the folder itself. Call it before the first browser starts. Browsers end themselves when their pipe closes, and
 * isolated programs with their parent; this is for those that hang, and for programs that nothing isolates.
 */
export async function removeLeftovers(workDir: string): Promise<{ processes: number }> {
  const folder = sessionsFolder(workDir);
  const found = await processesOf(`--user-data-dir=${folder}/`);
  for (const pid of found) killQuietly(pid);
  const programs = await killMarked(folder);
  const sessions = await readdir(folder).catch(() => []);
  await Promise.all(sessions.map((name) => removeUserData(path.join(folder, name))));
  await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  return { processes: found.length + programs };
}

/** Process ids whose command line holds an argument that starts with `marker`. Linux only; elsewhere none. */
async function processesOf(marker: string): Promise<number[]> {
  const entries = await readdir('/proc').catch(() => []);
  const pids = entries.filter((entry) => /^\d+$/.test(entry)).map(Number);
  const matches = await Promise.all(
    pids.map(async (pid) => {
      // Gone meanwhile, or not ours to read: not a leftover of ours.
      const commandLine = await readFile(`/proc/${String(pid)}/cmdline`, 'utf8').catch(() => '');
      return commandLine.split('\0').some((argument) => argument.startsWith(marker)) ? pid : null;
    }),
  );
  return matches.filter((pid) => pid !== null && pid !== process.pid).map(Number);
}

function killQuietly(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It ended by itself meanwhile.
  }
}
