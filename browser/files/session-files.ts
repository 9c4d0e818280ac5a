import { HoldfastError } from '../../contract/errors.ts';
import type { FileOwner } from '../process/session-folder.ts';
import type { ResolvedPath } from './resolve-path.ts';
import { resolvePath } from './resolve-path.ts';

/** The files of a session. Paths are absolute, as its processes see them. */
export interface SessionFiles {
  /** Owner of new files, so that processes can use them; null for the service's own user. */
  owner: FileOwner | null;
  /** Private folder on the same disk, for incomplete files. */
  workFolder: string;
  /** Log files of the session's components. */
  logsFolder: string;
  /** Acts on a path, which is held open meanwhile. Follows links, including the last segment. */
  at<T>(sessionPath: string, action: (place: ResolvedPath) => Promise<T>): Promise<T>;
  /** Acts on the entry itself, without following a link: to create, replace, move or delete it. */
  entry<T>(sessionPath: string, action: (place: ResolvedPath) => Promise<T>): Promise<T>;
}

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
