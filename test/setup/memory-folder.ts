import { run } from '../../start/setup/command.ts';

/** Most that the temporary files of a run may take; those of `npm test` take a quarter of a gigabyte. */
const MAX_GIGABYTES = 2;
const MIN_AVAILABLE_BYTES = 6 * 1024 ** 3;

const MOUNT_AND_RUN = 'mount -t tmpfs -o mode=1777,size="$1" tmpfs "$0" && shift && exec "$@"';

/**
 * The command before a command that sees a file system in memory at `folder`, which ends with it: creating and deleting the
 * profiles of browsers on a disk takes a tenth of the processor time of all tests. Empty where this user may mount none, or
 * memory is short.
 */
export async function memoryFolderCommand(folder: string): Promise<readonly string[]> {
  if (process.availableMemory() < MIN_AVAILABLE_BYTES) return [];
  const [program, ...args] = ['unshare', '--mount', 'sh', '-c', MOUNT_AND_RUN, folder, `${MAX_GIGABYTES}g`] as const;
  const { ok } = await run(program, [...args, 'true']);
  return ok ? [program, ...args] : [];
}
