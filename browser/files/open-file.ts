import { constants } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { open } from 'node:fs/promises';
import { HoldfastError } from '../../contract/errors.ts';
import { withFaults } from './faults.ts';
import type { SessionFiles } from './session-files.ts';

/**
 * Opens a file of a session to read it. Throws `not_found`, `forbidden`, and `invalid_request` for what is not a file: a
 * FIFO would wait for its writer, a device would do something.
 */
export function openFile(files: SessionFiles, sessionPath: string): Promise<FileHandle> {
  return withFaults(() =>
    files.at(sessionPath, async (place) => {
      const self = place.self();
      if (place.stats?.isFile() !== true) throw new HoldfastError('invalid_request', 'path: not a file');
      return open(self, constants.O_RDONLY | constants.O_NONBLOCK);
    }),
  );
}
