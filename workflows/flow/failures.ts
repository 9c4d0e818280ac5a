import { ActivityFailure, ApplicationFailure } from '@temporalio/workflow';
import type { FlowErrorCode } from '../../contract/connections.ts';

/** The type that an activity's failure carries; a time-out or a lost worker has none. */
export function failureCodeOf(error: unknown): string {
  if (error instanceof ActivityFailure && error.cause instanceof ApplicationFailure)
    return error.cause.type ?? 'internal_error';
  if (error instanceof ActivityFailure) return 'entry_uncertain';
  if (error instanceof ApplicationFailure) return error.type ?? 'internal_error';
  return 'internal_error';
}

/** The `error_code` of a flow that a failure ended. */
export function failureCode(error: unknown): FlowErrorCode {
  const code = failureCodeOf(error);
  switch (code) {
    case 'domain_not_allowed':
    case 'network_error':
    case 'element_not_found':
    case 'browser_error':
      return code;
    case 'session_gone':
    case 'entry_uncertain':
      return 'browser_error';
    default:
      return 'internal_error';
  }
}
