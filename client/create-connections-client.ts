import { randomUUID } from 'node:crypto';
import {
  isGrpcServiceError,
  WithStartWorkflowOperation,
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
  type Client,
  type WorkflowHandle,
} from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { HoldfastError, isErrorCode } from '../contract/errors.ts';
import type { ConnectionDocument } from '../contract/document.ts';
import type { authConnection } from '../workflows/index.ts';
import type { ConnectionInput } from '../workflows/connection/state.ts';
import {
  checkUpdate,
  configureUpdate,
  createUpdate,
  documentQuery,
  loginUpdate,
  removeUpdate,
  submitSignal,
  submitUpdate,
} from '../workflows/message-definitions.ts';
import {
  TASK_QUEUE,
  WORKFLOWS,
  type ConnectionSeed,
  type ConnectionView,
  type CreateResult,
} from '../workflows/messages.ts';
import type { ConnectionsClient } from './connections-client.ts';
import { connectionIdFor, workflowIdOf } from './identity.ts';

/** What {@link createConnectionsClient} needs. */
export interface ConnectionsClientOptions {
  /** A Temporal client with Holdfast's data converter. */
  temporal: Client;
  /** Names connections' workflows without telling what they are for; the same on every process (32 bytes). */
  identityKey: Buffer;
  taskQueue?: string;
  /** How long a message may wait for a worker, in milliseconds. Default 20 seconds. */
  timeoutMs?: number;
}

/** How often `check`, `follow` and `submit` look at the workflow, in milliseconds. */
const LOOK_EVERY_MS = 200;
/** How often `submit` sends an answer again that the workflow refuses, though it shows the pause. */
const LOOKS_FOR_PAUSE = 10;
/** How long `check` waits for its outcome. */
const CHECK_WAIT_MS = 60_000;
const GRPC_RESOURCE_EXHAUSTED = 8;
const GRPC_UNAVAILABLE = 14;
const GRPC_DEADLINE_EXCEEDED = 4;

/** Makes the typed handle on all connections' workflows. */
export function createConnectionsClient(options: ConnectionsClientOptions): ConnectionsClient {
  const { temporal, identityKey, taskQueue = TASK_QUEUE, timeoutMs = 20_000 } = options;
  const handleOf = (connectionId: string): WorkflowHandle<typeof authConnection> =>
    temporal.workflow.getHandle<typeof authConnection>(workflowIdOf(connectionId));
  const viewOf = async (connectionId: string): Promise<ConnectionView> => {
    const view = await call(() => handleOf(connectionId).query(documentQuery));
    if (view.removed || view.document.id !== connectionId) throw new HoldfastError('not_found', 'No such connection.');
    return view;
  };
  const call = <Result>(run: () => Promise<Result>): Promise<Result> =>
    temporal.connection.withDeadline(Date.now() + timeoutMs, () => translated(run));

  return {
    create: (seed) => createOnce({ temporal, identityKey, taskQueue, timeoutMs }, seed),

    login: (connectionId, login = {}) =>
      call(() => {
        const { loginId = randomUUID(), ...overrides } = login;
        return handleOf(connectionId).executeUpdate(loginUpdate, { args: [{ connectionId, loginId, ...overrides }] });
      }),

    submit: async (connectionId, input) => {
      const send = () =>
        call(() =>
          handleOf(connectionId).executeUpdate(submitUpdate, {
            args: [{ connectionId, ...input }],
            // The same submission sent twice is one update.
            ...(input.submissionId === null ? {} : { updateId: input.submissionId }),
          }),
        );
      // A worker that takes over from a dead one may hear the answer before it has come as far as the pause again.
      for (let looks = 0; looks < LOOKS_FOR_PAUSE; looks += 1) {
        try {
          return await send();
        } catch (error) {
          if (!(error instanceof HoldfastError) || error.code !== 'not_awaiting_input') throw error;
          const { document } = await viewOf(connectionId);
          if (document.flow?.interaction?.interaction_id !== input.interactionId) throw error;
        }
        await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
      }
      return await send();
    },

    submitBySignal: (connectionId, input) =>
      call(() => handleOf(connectionId).signal(submitSignal, { connectionId, ...input })),

    configure: (connectionId, changes) =>
      call(() => handleOf(connectionId).executeUpdate(configureUpdate, { args: [{ connectionId, changes }] })),

    check: async (connectionId) => {
      const { checkId } = await call(() =>
        handleOf(connectionId).executeUpdate(checkUpdate, { args: [{ connectionId }] }),
      );
      const until = Date.now() + CHECK_WAIT_MS;
      for (;;) {
        const view = await viewOf(connectionId);
        if (view.lastCheckId === checkId || Date.now() > until)
          return { revision: view.document.revision, document: view.document };
        await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
      }
    },

    remove: async (connectionId) => {
      await call(() => handleOf(connectionId).executeUpdate(removeUpdate, { args: [{ connectionId }] }));
    },

    read: async (connectionId) => (await viewOf(connectionId)).document,

    async *follow(connectionId, { signal } = {}) {
      let seen = -1;
      for (;;) {
        if (signal?.aborted === true) return;
        const document: ConnectionDocument = await this.read(connectionId);
        if (document.revision > seen) {
          seen = document.revision;
          yield document;
        }
        if (document.flow !== null && document.flow.flow_status !== 'IN_PROGRESS') return;
        await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
      }
    },
  };
}

/**
 * One workflow for each project, profile and domain: its id is made from them, so that fifty creates at once meet at one.
 * The server takes ten updates at a time for a workflow; the others try again until they learn who won.
 */
async function createOnce(
  options: Required<ConnectionsClientOptions>,
  seed: Omit<ConnectionSeed, 'id'>,
): Promise<CreateResult> {
  const { temporal, identityKey, taskQueue, timeoutMs } = options;
  const id = connectionIdFor(identityKey, {
    projectId: seed.projectId,
    profileName: seed.settings.profile_name,
    domain: seed.settings.domain,
  });
  const input: ConnectionInput = { schemaVersion: 1, seed: { id, ...seed }, carried: null };
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    const start = new WithStartWorkflowOperation<typeof authConnection>(WORKFLOWS.connection, {
      workflowId: workflowIdOf(id),
      taskQueue,
      args: [input],
      workflowIdConflictPolicy: 'USE_EXISTING',
      workflowIdReusePolicy: 'ALLOW_DUPLICATE',
    });
    try {
      const result = await temporal.connection.withDeadline(deadline, () =>
        translated(() =>
          temporal.workflow.executeUpdateWithStart(createUpdate, {
            args: [{ connectionId: id }],
            updateId: `create-${id}`,
            startWorkflowOperation: start,
          }),
        ),
      );
      if (result.outcome !== 'ending') return result;
      if (Date.now() > deadline) throw unavailable();
    } catch (error) {
      const again = error instanceof HoldfastError && error.code === 'rate_limited' && Date.now() < deadline;
      if (!again) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, 50 + Math.random() * 200));
  }
}

/** Turns what Temporal throws into the registry's codes. */
async function translated<Result>(run: () => Promise<Result>): Promise<Result> {
  try {
    return await run();
  } catch (error) {
    throw translate(error);
  }
}

function translate(error: unknown): unknown {
  if (error instanceof HoldfastError) return error;
  if (error instanceof WorkflowNotFoundError) return new HoldfastError('not_found', 'No such connection.');
  if (error instanceof WorkflowUpdateFailedError && error.cause instanceof ApplicationFailure) {
    const { type, message } = error.cause;
    if (typeof type === 'string' && isErrorCode(type)) return new HoldfastError(type, message);
    // The workflow ended while the update was under way: the connection is gone.
    return new HoldfastError('not_found', 'No such connection.');
  }
  if (error instanceof WorkflowUpdateRPCTimeoutOrCancelledError) return unavailable();
  const grpc = grpcCodeOf(error);
  if (grpc === GRPC_RESOURCE_EXHAUSTED)
    return new HoldfastError('rate_limited', 'Too many requests for one connection at once.', { retryAfterSeconds: 1 });
  if (grpc === GRPC_UNAVAILABLE || grpc === GRPC_DEADLINE_EXCEEDED) return unavailable();
  return error;
}

function grpcCodeOf(error: unknown): number | null {
  for (let at: unknown = error; at instanceof Error; at = at.cause) if (isGrpcServiceError(at)) return at.code;
  return null;
}

function unavailable(): HoldfastError {
  return new HoldfastError('unavailable', 'No worker or no Temporal server answered in time; try again.', {
    retryAfterSeconds: 2,
  });
}
