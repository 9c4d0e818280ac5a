import {
  isGrpcServiceError,
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
} from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { HoldfastError, isErrorCode } from '../contract/errors.ts';

/** Codes of gRPC that Temporal's server answers with. */
export const GRPC = {
  deadlineExceeded: 4,
  resourceExhausted: 8,
  failedPrecondition: 9,
  aborted: 10,
  unavailable: 14,
} as const;

/** Turns what Temporal throws into the registry's codes. */
export function translate(error: unknown): unknown {
  if (error instanceof HoldfastError) return error;
  if (error instanceof WorkflowNotFoundError) return new HoldfastError('not_found', 'No such connection');
  if (error instanceof WorkflowUpdateFailedError && error.cause instanceof ApplicationFailure) {
    const { type, message } = error.cause;
    if (typeof type === 'string' && isErrorCode(type)) return new HoldfastError(type, message);
    // The workflow ended while the update was under way: the connection is gone.
    return new HoldfastError('not_found', 'No such connection');
  }
  if (error instanceof WorkflowUpdateRPCTimeoutOrCancelledError) return unavailable();
  const grpc = grpcCodeOf(error);
  if (grpc === GRPC.resourceExhausted)
    return new HoldfastError('rate_limited', 'Too many requests for one connection at once; try again', {
      retryAfterSeconds: 1,
    });
  if (grpc === GRPC.unavailable || grpc === GRPC.deadlineExceeded) return unavailable();
  return error;
}

/**
 * True when a message met a run that was handing over. Every message may be sent again: what was applied is known. Where something
 * else arrives while the last task of a run is under way, the server has that task done again, and says of an update in it, which
 * was not accepted then, that a precondition failed.
 */
export function metEndOfRun(error: unknown): boolean {
  if (!(error instanceof WorkflowUpdateFailedError)) {
    const code = grpcCodeOf(error);
    return code === GRPC.aborted || code === GRPC.failedPrecondition;
  }
  return !(error.cause instanceof ApplicationFailure) || error.cause.type === 'AcceptedUpdateCompletedWorkflow';
}

/** The code of the gRPC error behind what Temporal's client threw; null where there is none. */
export function grpcCodeOf(error: unknown): number | null {
  for (let at: unknown = error; at instanceof Error; at = at.cause) if (isGrpcServiceError(at)) return at.code;
  return null;
}

/** What a caller gets when no worker answered in time; it may try again. */
export function unavailable(): HoldfastError {
  return new HoldfastError('unavailable', 'No worker or no Temporal server answered in time; try again', {
    retryAfterSeconds: 2,
  });
}
