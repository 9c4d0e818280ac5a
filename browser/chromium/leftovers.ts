import { readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { killSessionProcesses } from '../process/marked.ts';
import { killProcess, processesWith } from '../process/process-list.ts';
import { removeUserData, sessionsFolder } from './user-data.ts';

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
