import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { ChildSpec } from '../child-process.ts';
import { postgresFolder } from '../connections.ts';
import { SetupError } from '../setup/setup-error.ts';
import { postgresServer } from './server.ts';

/**
 * The store of a data folder, as a child to start. Rejects with a {@link SetupError}, and changes nothing, when the folder
 * holds the store of version 0.1, which another database wrote.
 */
export async function ownStore(dataDir: string): Promise<ChildSpec> {
  const folder = postgresFolder(dataDir);
  if (!(await exists(folder)) && (await exists(join(dataDir, 'store', 'pg')))) {
    throw new SetupError(
      `${join(dataDir, 'store')} is the store of Holdfast 0.1, which this version cannot read; set ` +
        'HOLDFAST_DATA_DIR to a new folder (docs/operations.md, "From 0.1")',
    );
  }
  return postgresServer(folder);
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
