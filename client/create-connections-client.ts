import { randomUUID } from 'node:crypto';
import {
  WithStartWorkflowOperation,
  WorkflowNotFoundError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
  type Client,
  type WorkflowHandle,
  type WorkflowOptions,
} from '@temporalio/client';
import { HoldfastError } from '../contract/errors.ts';
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
import { searchAttributesOf, type SearchOptions } from './search-attributes.ts';
import { GRPC, grpcCodeOf, hitEndOfRun, translate, unavailable } from './temporal-errors.ts';

/** Options of {@link createConnectionsClient}. */
export interface ConnectionsClientOptions {
  /** A Temporal client with Holdfast's data converter. */
  temporal: Client;
  /** Key for hashing what a connection is for into its workflow id; the same in every process (32 bytes). */
  identityKey: Buffer;
  taskQueue?: string;
  /** Finds the last recorded document. Needed to restart connections whose workflow was terminated externally. */
  findDocument?: (connectionId: string) => Promise<ConnectionDocument | null>;
  /** Sets search attributes, if the namespace knows them ({@link hasSearchAttributes}). Default null. */
  search?: SearchOptions | null;
  /** How long a message may wait for a worker, in milliseconds. Default 20 seconds. */
  timeoutMs?: number;
  /** How long `check` waits for its outcome, in milliseconds. Default a minute. */
  checkWaitMs?: number;
}

/** How long one query waits for a worker, in milliseconds, before it is repeated. */
const QUERY_WAIT_MS = 2_000;
/** How often a message is resent that reached its workflow between two runs. */
const MAX_RESENDS = 5;
/** Limit of one long poll, in milliseconds; the server answers sooner. */
const LONG_POLL_MS = 60_000;

/** Creates the typed client of all connections' workflows. */
export function createConnectionsClient(options: ConnectionsClientOptions): ConnectionsClient {
  const {
    temporal,
    identityKey,
    taskQueue = TASK_QUEUE,
    timeoutMs = 20_000,
    checkWaitMs = 60_000,
    findDocument,
    search = null,
  } = options;
  const handleOf = (connectionId: string): WorkflowHandle<typeof authConnection> =>
    temporal.workflow.getHandle<typeof authConnection>(workflowIdOf(connectionId));

  const metadata = (connection: { organizationId: string; domain: string }) => ({
    staticSummary: 'Keeps a browser profile logged in',
    ...(search === null ? {} : { typedSearchAttributes: searchAttributesOf(identityKey, connection, search) }),
  });

  const restart = async (connectionId: string): Promise<boolean> => {
    const document = (await findDocument?.(connectionId)) ?? null;
    if (document === null) return false;
    await temporal.workflow.start<typeof authConnection>(WORKFLOWS.connection, {
      workflowId: workflowIdOf(connectionId),
      taskQueue,
      args: [{ schemaVersion: 2, begin: { how: 'again', document } }],
      ...metadata({ organizationId: document.organization_id, domain: document.settings.domain }),
      workflowIdConflictPolicy: 'USE_EXISTING',
      workflowIdReusePolicy: 'ALLOW_DUPLICATE',
    });
    return true;
  };

  const isRunning = async (connectionId: string): Promise<boolean> => {
    try {
      const { status } = await temporal.connection.withDeadline(Date.now() + timeoutMs, () =>
        handleOf(connectionId).describe(),
      );
      return status.name === 'RUNNING';
    } catch (error) {
      if (error instanceof WorkflowNotFoundError) return false;
      throw translate(error);
    }
  };

  /** Sends a message to a connection's workflow, which may be between two runs or have been terminated externally. */
  const send = async <Result>(
    connectionId: string,
    message: (handle: WorkflowHandle<typeof authConnection>) => Promise<Result>,
    waitMs = timeoutMs,
  ): Promise<Result> => {
    const deadline = Date.now() + waitMs;
    const once = () => temporal.connection.withDeadline(deadline, () => message(handleOf(connectionId)));
    for (let tries = 0; ; tries += 1) {
      try {
        return await once();
      } catch (error) {
        const canResend =
          tries < MAX_RESENDS &&
          (hitEndOfRun(error) ||
            (tries === 0 && error instanceof WorkflowNotFoundError && (await restart(connectionId))));
        if (!canResend) throw translate(error);
      }
    }
  };

  const read = async (connectionId: string): Promise<ConnectionDocument> => {
    // A query that reaches the end of a run is lost with it and repeated soon.
    const deadline = Date.now() + timeoutMs;
    const ask = (): Promise<ConnectionView> =>
      send(connectionId, (handle) => handle.query(documentQuery), QUERY_WAIT_MS).catch((error: unknown) => {
        if (Date.now() < deadline && error instanceof HoldfastError && error.code === 'unavailable') return ask();
        throw error;
      });
    const view = await ask();
    if (view.removed || view.document.id !== connectionId) throw new HoldfastError('not_found', 'No such connection');
    return view.document;
  };

  return {
    create: (seed) =>
      createOnce(
        { temporal, identityKey, taskQueue, timeoutMs },
        seed,
        metadata({ organizationId: seed.organizationId, domain: seed.settings.domain }),
      ),

    login: (connectionId, { loginId = randomUUID(), ...overrides } = {}) =>
      send(connectionId, (handle) =>
        handle.executeUpdate(loginUpdate, { args: [{ connectionId, loginId, ...overrides }] }),
      ),

    submit: (connectionId, input) =>
      send(connectionId, (handle) =>
        handle.executeUpdate(submitUpdate, {
          args: [{ connectionId, ...input }],
          // The same submission sent twice is one update.
          ...(input.submissionId === null ? {} : { updateId: input.submissionId }),
        }),
      ),

    submitBySignal: (connectionId, input) =>
      send(connectionId, (handle) => handle.signal(submitSignal, { connectionId, ...input })),

    configure: (connectionId, changes) =>
      send(connectionId, (handle) => handle.executeUpdate(configureUpdate, { args: [{ connectionId, changes }] })),

    credentialChanged: (connectionId) =>
      send(connectionId, (handle) =>
        handle.executeUpdate(configureUpdate, { args: [{ connectionId, changes: {}, credentialChanged: true }] }),
      ),

    check: async (connectionId) => {
      const update = await send(connectionId, (handle) =>
        handle.startUpdate(checkUpdate, { args: [{ connectionId }], waitForStage: 'ACCEPTED' }),
      );
      const deadline = Date.now() + checkWaitMs;
      try {
        return await temporal.connection.withDeadline(deadline, () => update.result());
      } catch (error) {
        if (error instanceof WorkflowUpdateRPCTimeoutOrCancelledError || grpcCodeOf(error) === GRPC.deadlineExceeded)
          return null;
        throw translate(error);
      }
    },

    remove: async (connectionId) => {
      await send(connectionId, (handle) => handle.executeUpdate(removeUpdate, { args: [{ connectionId }] }));
    },

    revive: async (connectionId) => {
      if (await isRunning(connectionId)) return false;
      return await restart(connectionId);
    },

    read,

    async *follow(connectionId, { signal } = {}) {
      const changes = workflowChanges(temporal, workflowIdOf(connectionId), signal);
      let seen = -1;
      for (;;) {
        if (signal?.aborted === true) return;
        const document = await read(connectionId);
        if (document.revision > seen) {
          seen = document.revision;
          yield document;
        }
        if (document.flow !== null && document.flow.flow_status !== 'IN_PROGRESS') return;
        await changes();
      }
    },
  };
}

/**
 * Creates the one workflow of a project, profile and domain, whose id is derived from them, so that concurrent creates reach
 * the same one. The server accepts ten updates at a time per workflow; the others are retried.
 */
async function createOnce(
  options: Required<Omit<ConnectionsClientOptions, 'findDocument' | 'search' | 'checkWaitMs'>>,
  seed: Omit<ConnectionSeed, 'id'>,
  metadata: Pick<WorkflowOptions, 'staticSummary' | 'typedSearchAttributes'>,
): Promise<CreateResult> {
  const { temporal, identityKey, taskQueue, timeoutMs } = options;
  const id = connectionIdFor(identityKey, {
    projectId: seed.projectId,
    profileName: seed.settings.profile_name,
    domain: seed.settings.domain,
  });
  const input: ConnectionInput = { schemaVersion: 2, begin: { how: 'new', seed: { id, ...seed } } };
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    const start = new WithStartWorkflowOperation<typeof authConnection>(WORKFLOWS.connection, {
      workflowId: workflowIdOf(id),
      taskQueue,
      args: [input],
      workflowIdConflictPolicy: 'USE_EXISTING',
      workflowIdReusePolicy: 'ALLOW_DUPLICATE',
      ...metadata,
    });
    try {
      const result = await temporal.connection.withDeadline(deadline, () =>
        temporal.workflow.executeUpdateWithStart(createUpdate, {
          args: [{ connectionId: id }],
          updateId: `create-${id}`,
          startWorkflowOperation: start,
        }),
      );
      if (result.outcome !== 'ending') return result;
      if (Date.now() > deadline) throw unavailable();
    } catch (error) {
      const code = grpcCodeOf(error);
      const canRetry = (code === GRPC.resourceExhausted || code === GRPC.aborted) && Date.now() < deadline;
      if (!canRetry) throw translate(error);
    }
    await new Promise((resolve) => setTimeout(resolve, 50 + Math.random() * 200));
  }
}

/** Returns a function that waits, without querying a worker, until the workflow has completed a task. */
function workflowChanges(temporal: Client, workflowId: string, signal: AbortSignal | undefined): () => Promise<void> {
  const { namespace } = temporal.options;
  let nextPageToken: Uint8Array | undefined;
  const poll = () =>
    temporal.connection.withDeadline(Date.now() + LONG_POLL_MS, () =>
      temporal.workflowService.getWorkflowExecutionHistory({
        namespace,
        execution: { workflowId },
        waitNewEvent: true,
        ...(nextPageToken === undefined ? {} : { nextPageToken }),
      }),
    );
  return async () => {
    for (;;) {
      try {
        const page = await (signal === undefined ? poll() : temporal.connection.withAbortSignal(signal, poll));
        // A run that has ended has no more pages; the next one starts from its first event.
        nextPageToken = page.nextPageToken.length > 0 ? page.nextPageToken : undefined;
        const hasChanged = page.history?.events?.some(
          (event) => (event.workflowTaskCompletedEventAttributes ?? null) !== null,
        );
        if (hasChanged === true || nextPageToken === undefined) return;
      } catch (error) {
        if (signal?.aborted === true) return;
        if (grpcCodeOf(error) !== GRPC.deadlineExceeded) throw translate(error);
      }
    }
  };
}
