import type { ErrorCode } from '../../contract/errors.ts';
import { HoldfastError } from '../../contract/errors.ts';

/** What the system says of a file, as a caller of the files operations reads it. */
const FAULTS: Record<string, readonly [ErrorCode, string]> = {
  ENOENT: ['not_found', 'path: no such file or directory in the session'],
  ENOTDIR: ['invalid_request', 'path: not a directory'],
  EISDIR: ['invalid_request', 'path: is a directory'],
  ENOTEMPTY: ['invalid_request', 'path: the folder is not empty'],
  ENAMETOOLONG: ['invalid_request', 'path: has a name that is too long'],
  ELOOP: ['invalid_request', 'path: was changed while it was followed; try again'],
  EINVAL: ['invalid_request', 'path: cannot be used so'],
  ENXIO: ['invalid_request', 'path: not a file'],
  EEXIST: ['already_exists', 'path: something is there already'],
  EACCES: ['forbidden', 'path: its permissions do not allow this'],
  EPERM: ['forbidden', 'path: its permissions do not allow this'],
  EROFS: ['forbidden', 'path: its permissions do not allow this'],
  ENOSPC: ['operation_failed', 'There is no space left for the files of sessions'],
  EDQUOT: ['operation_failed', 'There is no space left for the files of sessions'],
  EFBIG: ['operation_failed', 'The file is larger than the machine allows'],
  EBUSY: ['operation_failed', 'path: is in use'],
  EXDEV: ['operation_failed', 'path: cannot be moved there'],
  EMFILE: ['operation_failed', 'The machine has too many files open; try again'],
  ENFILE: ['operation_failed', 'The machine has too many files open; try again'],
  ECONNRESET: ['bad_request', 'The upload broke off'],
  ERR_STREAM_PREMATURE_CLOSE: ['bad_request', 'The upload broke off'],
};

/** Runs an operation on files; what the system refuses becomes an error of the interface. */
export async function withFileErrors<T>(operation: () => Promise<T>): Promise<T> {
  try {
    return await operation();
  } catch (error) {
    throw toFileError(error);
  }
}

/** An error of the system as one of the interface; others as they are. */
export function toFileError(error: unknown): unknown {
  if (!(error instanceof Error) || !('code' in error) || error instanceof HoldfastError) return error;
  const code = String(error.code);
  const fault = FAULTS[code];
  if (fault === undefined) return error;
  const call = 'syscall' in error ? String(error.syscall) : 'The operation';
  return new HoldfastError(fault[0], fault[1], { innerError: { code, message: `${call} failed with ${code}` } });
}

/** Runs an operation on a path that the request calls by another name than `path`: errors name it so. */
export async function withFieldName<T>(field: string, operation: () => Promise<T>): Promise<T> {
  try {
    return await operation();
  } catch (error) {
    const fault = toFileError(error);
    if (!(fault instanceof HoldfastError) || !fault.message.startsWith('path: ')) throw fault;
    const { innerError } = fault;
    const cause = innerError === undefined ? {} : { innerError };
    throw new HoldfastError(fault.code, fault.message.replace('path', field), cause);
  }
}
