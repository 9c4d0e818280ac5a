import { stat } from 'node:fs/promises';
import type { Chromium } from '../chromium/launch.ts';
import { createSessionFiles, type SessionFiles } from '../files/session-files.ts';
import { createSessionWatches, type SessionWatches } from '../files/session-watches.ts';
import { SYSTEM_FOLDERS, type Isolation } from '../process/isolation.ts';
import { createSessionFolder, sessionFolderOf, type SessionFolder } from '../process/session-folder.ts';
import { createSessionProcesses, type SessionProcesses } from '../process/session-processes.ts';

/** The files and processes of a session. */
export interface Workspace {
  folder: SessionFolder;
  files: SessionFiles;
  watches: SessionWatches;
  /** Null where running processes is not allowed. */
  processes: SessionProcesses | null;
  /** Ends its processes and watches. Its files are removed with the browser's folder. */
  close(): Promise<void>;
}

/** Creates the workspace of a session whose browser has started. */
export async function openWorkspace(
  isolation: Isolation | null,
  chromium: Pick<Chromium, 'userDataDir' | 'display'>,
): Promise<Workspace> {
  const folder = sessionFolderOf(chromium.userDataDir);
  const owner = isolation?.owner ?? null;
  await createSessionFolder(folder, owner);
  const files = createSessionFiles({
    root: folder.root,
    workFolder: folder.work,
    logsFolder: folder.logs,
    systemFolders: SYSTEM_FOLDERS,
    owner,
  });
  const processes =
    isolation === null
      ? null
      : createSessionProcesses({
          isolation,
          folder,
          display: chromium.display,
          isFolder: (place) => (isolation.kind === 'none' ? isHostFolder(place) : isFolderInside(files, place)),
        });
  const watches = createSessionWatches(files, SYSTEM_FOLDERS);
  const close = async (): Promise<void> => {
    await Promise.all([processes?.close(), watches.close()]);
  };
  return { folder, files, watches, processes, close };
}

/** System folders are looked up on the host, all others in the session's own files. */
async function isFolderInside(files: SessionFiles, place: string): Promise<boolean> {
  const first = place.split('/').find((part) => part !== '' && part !== '.');
  if (first === undefined) return true;
  if (SYSTEM_FOLDERS.has(first)) return isHostFolder(place);
  return files.at(place, ({ stats }) => Promise.resolve(stats?.isDirectory() === true)).catch(() => false);
}

async function isHostFolder(place: string): Promise<boolean> {
  return (await stat(place).catch(() => null))?.isDirectory() === true;
}
