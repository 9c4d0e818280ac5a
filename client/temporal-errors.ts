import {
  isGrpcServiceError,
  WorkflowExecutionAlreadyStartedError,
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
} from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { HoldfastError, isErrorCode } from '../contract/errors.ts';

/** gRPC status codes that Temporal's server returns. */
export const GRPC = {
  deadlineExceeded: 4,
  resourceExhausted: 8,
  failedPrecondition: 9,
  aborted: 10,
  unavailable: 14,
} as const;

/** Converts an error of Temporal's client into a HoldfastError, if it has a known cause. */
export function translate(error: unknown): unknown {
  if (error instanceof HoldfastError) return error;
  if (error instanceof WorkflowNotFoundError) return new HoldfastError('not_found', 'No such connection');
  if (error instanceof WorkflowUpdateFailedError && error.cause instanceof ApplicationFailure) {
    const { type, message } = error.cause;
    if (typeof type === 'string' && isErrorCode(type)) return new HoldfastError(type, message);
    // The workflow ended during the update: the connection is gone.
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
 * True if a message reached a run that was continuing as new; messages are idempotent, so it can be sent again. If another
 * message arrives during the last task of a run, the server repeats that task and fails an update in it, which was not
 * accepted yet, with a failed precondition.
 */
export function hitEndOfRun(error: unknown): boolean {
  if (!(error instanceof WorkflowUpdateFailedError)) {
    const code = grpcCodeOf(error);
    return code === GRPC.aborted || code === GRPC.failedPrecondition;
  }
  return !(error.cause instanceof ApplicationFailure) || error.cause.type === 'AcceptedUpdateCompletedWorkflow';
}

/** The status code of the underlying gRPC error; null if there is none. */
export function grpcCodeOf(error: unknown): number | null {
  for (let at: unknown = error; at instanceof Error; at = at.cause) if (isGrpcServiceError(at)) return at.code;
  return null;
}

/** The error if no worker answered in time; retriable. */
export function unavailable(): HoldfastError {
  return new HoldfastError('unavailable', 'No worker or no Temporal server answered in time; try again', {
    retryAfterSeconds: 2,
  });
}

/** Starts a workflow unless it was started before. */
export async function startOnce(start: () => Promise<unknown>): Promise<void> {
  try {
    await start();
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw translate(error);
  }
}
