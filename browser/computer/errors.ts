import { HoldfastError } from '../../contract/errors.ts';
import { CdpError } from '../cdp/connection.ts';

/** Converts a failed CDP command by its kind only: its parameters may contain typed text. */
export function toHoldfastError(error: unknown): HoldfastError {
  if (error instanceof HoldfastError) return error;
  if (!(error instanceof CdpError)) return new HoldfastError('internal_error', 'The action failed; retry');
  const innerError = { code: `cdp_${error.reason}`, message: `${error.method} failed` };
  switch (error.reason) {
    case 'closed':
      return new HoldfastError('not_found', 'The browser session has ended', { innerError });
    case 'timeout':
      return new HoldfastError('operation_failed', 'Timed out waiting for the page to handle the action; retry', {
        innerError,
      });
    case 'refused':
      return new HoldfastError('operation_failed', 'The browser rejected the action', { innerError });
  }
}

/** The error for any action on a crashed page. */
export function pageCrashed(): HoldfastError {
  return new HoldfastError('operation_failed', 'The page has crashed; navigate it or open another');
}
