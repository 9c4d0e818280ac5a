import type { FastifyReply } from 'fastify';
import type { ManagedAuth } from '../../contract/connections.ts';
import { toHoldfastError } from '../../http/errors.ts';
import { type EventStream, eventFrame, openEventStream } from '../../http/event-stream.ts';
import { lastEventIdOf } from '../../http/headers.ts';
import type { ConnectionRow } from '../../store/queries/connection-lookups.ts';
import type { ConnectionState } from '../../store/queries/connections.ts';
import { type Caller, callerOf, canSeeAccessLinks, principalCallerOf, principalIdOf } from '../caller.ts';
import type { ApiDeps, ApiServer } from '../context.ts';
import type { ApiParts } from '../parts.ts';
import { EventStreamResponse, IdParams } from '../response-schemas.ts';
import type { OpenStream } from '../streams.ts';

/** Where {@link recordedStates} starts and stops. */
export interface StatesRequest {
  /** The reader's last revision; null, or a revision not recorded yet, starts with the current state. */
  afterRevision: number | null;
  signal: AbortSignal;
}

/**
 * The states of a connection in recorded order, without gaps: those stored after `afterRevision`, then new ones. Ends when `signal`
 * aborts or the connection is removed. States are read from the store on demand, so a slow reader buffers nothing.
 * `row`: the connection as read, used as the first state of a reader that has none.
 */
export async function* recordedStates(
  store: ApiDeps['store'],
  row: ConnectionRow,
  { afterRevision, signal }: StatesRequest,
): AsyncGenerator<ConnectionState> {
  let seen = afterRevision ?? Number.POSITIVE_INFINITY;
  if (seen > row.revision) {
    seen = row.revision;
    yield { revision: row.revision, document: row.document, at: row.updatedAt };
  }
  // The watch starts with the current revision, so nothing since `row` was read is missed.
  for await (const revision of store.changes.watch(row.id, signal)) {
    if (revision <= seen) continue;
    for (const state of await store.connections.statesSince(row.id, seen)) {
      if (signal.aborted) return;
      seen = state.revision;
      yield state;
    }
  }
}

/** How long after a flow's expiry the stream reports EXPIRED by itself, if the workflow has not, in milliseconds. */
const EXPIRY_GRACE_MS = 2000;
/** Maximum delay of a timer. */
const MAX_DELAY_MS = 2 ** 31 - 1;

/**
 * `GET /auth/connections/{id}/events`: streams each recorded state of the current flow, in full, until the flow ends.
 * `Last-Event-ID` resumes. Before the first flow it sends heartbeats only.
 */
export function registerEvents(app: ApiServer, parts: ApiParts): void {
  app.route({
    method: 'GET',
    url: '/auth/connections/:id/events',
    config: { access: 'hosted' },
    schema: {
      operationId: 'followAuthConnection',
      tags: ['auth connections'],
      description: 'Server-sent events: managed_auth_state, error, sse_heartbeat.',
      params: IdParams,
      response: { 200: EventStreamResponse },
    },
    handler: async (request, reply) => {
      const caller = callerOf(request);
      const row = await parts.views.find(caller, request.params.id);
      const stream = parts.streams.open(
        caller.kind === 'hosted' ? caller.flowId : principalIdOf(principalCallerOf(request)),
      );
      try {
        const afterRevision = lastEventIdOf(request.headers['last-event-id']);
        await streamFlow(parts, reply, { caller, row, afterRevision, stream });
      } finally {
        stream.close();
      }
    },
  });
}

interface FlowStream {
  caller: Caller;
  row: ConnectionRow;
  afterRevision: number | null;
  stream: OpenStream;
}

async function streamFlow(
  parts: ApiParts,
  reply: FastifyReply,
  { caller, row, afterRevision, stream }: FlowStream,
): Promise<void> {
  const writer = openEventStream(reply, {
    heartbeat: () => frame({ event: 'sse_heartbeat', timestamp: parts.clock().toISOString() }),
  });
  writer.onClose(stream.close);
  // The reader already has the final state.
  const currentStatus = row.document.flow?.flow_status ?? 'IN_PROGRESS';
  if (row.revision === afterRevision && currentStatus !== 'IN_PROGRESS') {
    writer.end();
    return;
  }

  let expiry: NodeJS.Timeout | undefined;
  try {
    let isFirst = true;
    let running: ConnectionState | null = null;
    for await (const state of recordedStates(parts.store, row, { afterRevision, signal: stream.signal })) {
      clearTimeout(expiry);
      const { flow } = state.document;
      if (caller.kind === 'hosted' && flow?.flow_id !== caller.flowId) break;
      // The current state is presented as of now, since it may have expired; a past one as it was.
      const at = isFirst && afterRevision === null ? parts.clock() : state.at;
      isFirst = false;
      running = flow?.flow_status === 'IN_PROGRESS' ? state : null;
      if (await sendState(parts, writer, caller, state, at)) break;
      if (flow?.flow_status !== 'IN_PROGRESS') continue;
      const left = Date.parse(flow.flow_expires_at) - parts.clock().getTime() + EXPIRY_GRACE_MS;
      expiry = setTimeout(
        () =>
          void sendState(parts, writer, caller, state, parts.clock())
            .catch(() => false)
            .finally(stream.close),
        Math.min(Math.max(left, 0), MAX_DELAY_MS),
      );
    }
    // The connection was removed together with its states, perhaps before the cancellation could be read.
    if (running !== null && !stream.signal.aborted && (await parts.store.connections.byIdUnscoped(row.id)) === null)
      await sendState(parts, writer, caller, canceled(running, parts.clock()), parts.clock());
  } catch (error) {
    const { code, message } = toHoldfastError(error);
    await writer.send(frame({ event: 'error', timestamp: parts.clock().toISOString(), error: { code, message } }));
  } finally {
    clearTimeout(expiry);
    writer.end();
  }
}

/** Sends a state; true if its flow has ended. */
async function sendState(
  parts: ApiParts,
  writer: EventStream,
  caller: Caller,
  state: ConnectionState,
  at: Date,
): Promise<boolean> {
  const connection = parts.views.present(state.document, canSeeAccessLinks(caller), at);
  const event = stateEvent(connection, state.at);
  if (event === null) return false;
  await writer.send(frame(event, state.revision));
  return connection.flow_status !== 'IN_PROGRESS';
}

/** The final state of a flow whose connection was removed. */
function canceled({ revision, document }: ConnectionState, at: Date): ConnectionState {
  const { flow } = document;
  const end = { flow_status: 'CANCELED', interaction: null, external_action_message: null } as const;
  return { revision: revision + 1, at, document: { ...document, flow: flow === null ? null : { ...flow, ...end } } };
}

function frame(data: { event: string; [name: string]: unknown }, id?: number): string {
  return eventFrame(data.event, data, id);
}

/** Flow fields of a state event besides `flow_status` and `flow_step` (wire.md, "Streams"). */
const FIELDS = [
  'flow_id',
  'flow_type',
  'interaction_id',
  'fields',
  'choices',
  'discovered_fields',
  'mfa_options',
  'sign_in_options',
  'pending_sso_buttons',
  'external_action_message',
  'website_error',
  'error_code',
  'error_message',
  'post_login_url',
  'live_view_url',
  'hosted_url',
] as const satisfies readonly (keyof ManagedAuth)[];

/**
 * The data of a `managed_auth_state` event: the full state without null fields, which readers treat as cleared. Null if the
 * connection has had no flow yet.
 */
function stateEvent(connection: ManagedAuth, at: Date): { event: string; [name: string]: unknown } | null {
  const { flow_status: status, flow_step: step } = connection;
  if (!status || !step) return null;
  const known = FIELDS.flatMap((name) => {
    const value = connection[name];
    return value === null || value === undefined ? [] : [[name, value] as const];
  });
  return {
    event: 'managed_auth_state',
    timestamp: at.toISOString(),
    flow_status: status,
    flow_step: step,
    ...Object.fromEntries(known),
  };
}
