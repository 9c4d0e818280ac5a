import type { ErrorCode } from '../../contract/errors.ts';
import { HoldfastError } from '../../contract/errors.ts';

/** System error codes, as reported to callers of file operations. */
const FILE_ERRORS: Record<string, readonly [ErrorCode, string]> = {
  ENOENT: ['not_found', 'path: no such file or directory in the session'],
  ENOTDIR: ['invalid_request', 'path: not a directory'],
  EISDIR: ['invalid_request', 'path: is a directory'],
  ENOTEMPTY: ['invalid_request', 'path: the directory is not empty'],
  ENAMETOOLONG: ['invalid_request', 'path: a name is too long'],
  ELOOP: ['invalid_request', 'path: changed while it was resolved; retry'],
  EINVAL: ['invalid_request', 'path: not valid for this operation'],
  ENXIO: ['invalid_request', 'path: not a file'],
  EEXIST: ['already_exists', 'path: already exists'],
  EACCES: ['forbidden', 'path: permission denied'],
  EPERM: ['forbidden', 'path: permission denied'],
  EROFS: ['forbidden', 'path: permission denied'],
  ENOSPC: ['operation_failed', 'There is no space left for session files; delete some'],
  EDQUOT: ['operation_failed', 'There is no space left for session files; delete some'],
  EFBIG: ['operation_failed', 'The file is larger than the machine allows'],
  EBUSY: ['operation_failed', 'path: in use; retry later'],
  EXDEV: ['operation_failed', 'path: cannot be moved to another file system'],
  EMFILE: ['operation_failed', 'The machine has too many open files; retry later'],
  ENFILE: ['operation_failed', 'The machine has too many open files; retry later'],
  ECONNRESET: ['bad_request', 'The upload was interrupted; retry'],
  ERR_STREAM_PREMATURE_CLOSE: ['bad_request', 'The upload was interrupted; retry'],
};

/** Runs a file operation and converts system errors with {@link toFileError}. */
export async function withFileErrors<T>(operation: () => Promise<T>): Promise<T> {
  try {
    return await operation();
  } catch (error) {
    throw toFileError(error);
  }
}

/** Converts a system error to a HoldfastError; returns other errors unchanged. */
export function toFileError(error: unknown): unknown {
  if (!(error instanceof Error) || !('code' in error) || error instanceof HoldfastError) return error;
  const code = String(error.code);
  const fault = FILE_ERRORS[code];
  if (fault === undefined) return error;
  const call = 'syscall' in error ? String(error.syscall) : 'The operation';
  return new HoldfastError(fault[0], fault[1], { innerError: { code, message: `${call} failed with ${code}` } });
}

/** Runs a file operation whose path is a field of another name than `path`, which errors then mention. */
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
