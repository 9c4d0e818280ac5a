import { HoldfastError } from '../../contract/errors.ts';
import { CdpError } from '../cdp/connection.ts';

/** Speaks of a failed command by its kind alone: its parameters may be what somebody typed. */
export function toHoldfastError(error: unknown): HoldfastError {
  if (error instanceof HoldfastError) return error;
  if (!(error instanceof CdpError)) return new HoldfastError('internal_error', 'The action failed; retry');
  const innerError = { code: `cdp_${error.reason}`, message: `${error.method} was not carried out` };
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

/** What a page without a renderer answers to everything. */
export function pageCrashed(): HoldfastError {
  return new HoldfastError('operation_failed', 'The page has crashed; navigate it or open another');
}
