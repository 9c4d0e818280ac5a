import { HoldfastError } from '../../contract/errors.ts';
import type { FileOwner } from '../process/session-folder.ts';
import type { ResolvedPath } from './resolve-path.ts';
import { resolvePath } from './resolve-path.ts';

/** The files of a session. Paths are absolute, as its processes see them. */
export interface SessionFiles {
  /** Whom new files belong to, so that processes can use them; null when that is the service's own user. */
  owner: FileOwner | null;
  /** Private folder on the same disk, for what is not complete yet. */
  workFolder: string;
  /** Folder whose log files belong to the parts of the session. */
  logsFolder: string;
  /** Works on a place, which is held open as long. Links are followed, at the end of the path too. */
  at<T>(sessionPath: string, action: (place: ResolvedPath) => Promise<T>): Promise<T>;
  /** The same for a place whose last name is meant as such: to make, replace, move or remove it. */
  entry<T>(sessionPath: string, action: (place: ResolvedPath) => Promise<T>): Promise<T>;
}

/** What {@link createSessionFiles} needs. */
interface SessionFilesDeps {
  root: string;
  workFolder: string;
  logsFolder: string;
  systemFolders: ReadonlySet<string>;
  owner: FileOwner | null;
}

export function createSessionFiles(deps: SessionFilesDeps): SessionFiles {
  const work = async <T>(
    sessionPath: string,
    followLast: boolean,
    action: (place: ResolvedPath) => Promise<T>,
  ): Promise<T> => {
    if (process.platform !== 'linux') {
      throw new HoldfastError('not_implemented', 'File operations require the browser service to run on Linux');
    }
    const { root, systemFolders } = deps;
    const place = await resolvePath(sessionPath, { root, systemFolders, followLast });
    try {
      return await action(place);
    } finally {
      await place.close();
    }
  };
  return {
    owner: deps.owner,
    workFolder: deps.workFolder,
    logsFolder: deps.logsFolder,
    at: (sessionPath, action) => work(sessionPath, true, action),
    entry: (sessionPath, action) => work(sessionPath, false, action),
  };
}
