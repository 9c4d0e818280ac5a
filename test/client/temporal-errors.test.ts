import { ServiceError, WorkflowUpdateFailedError } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { expect, it } from 'vitest';
import { GRPC, hitEndOfRun } from '../../client/temporal-errors.ts';

/** The client's error for a server response with this code. */
function refused(code: number): ServiceError {
  const cause = Object.assign(new Error('as the server says it'), { code, details: '', metadata: {} });
  return new ServiceError('Workflow Update failed', { cause });
}

it.each([
  ['aborted', refused(GRPC.aborted), true],
  ['in a task that is done again', refused(GRPC.failedPrecondition), true],
  ['out of time', refused(GRPC.deadlineExceeded), false],
  ['refused by the workflow', new WorkflowUpdateFailedError('no', ApplicationFailure.create({ type: 'gone' })), false],
  [
    'accepted by a run that ended',
    new WorkflowUpdateFailedError('no', ApplicationFailure.create({ type: 'AcceptedUpdateCompletedWorkflow' })),
    true,
  ],
])('detects whether a message that was %s reached the end of a run', (_how, error, met) => {
  expect(hitEndOfRun(error)).toBe(met);
});
