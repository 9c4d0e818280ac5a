import type { FastifyReply } from 'fastify';
import type { ManagedAuth } from '../../contract/connections.ts';
import type { ConnectionDocument } from '../../contract/document.ts';
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

/** From where, and for how long, {@link recordedStates} reads. */
export interface StatesRequest {
  /** The last revision that the reader has; null: the current state first. One that is not reached yet counts as null. */
  afterRevision: number | null;
  signal: AbortSignal;
}

/**
 * The states of a connection in the order in which they were recorded, without a gap: what is stored after
 * `afterRevision`, then each new one. Ends when `signal` aborts or the connection is removed. A slow reader holds nothing
 * up: what it has not asked for lies in the store.
 * @param row the connection as the reader found it: the first state of a reader that has none.
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
  // The first revision of the watch is the current one, so nothing between the read above and now is missed.
  for await (const revision of store.changes.watch(row.id, signal)) {
    if (revision <= seen) continue;
    for (const state of await store.connections.statesSince(row.id, seen)) {
      if (signal.aborted) return;
      seen = state.revision;
      yield state;
    }
  }
}

/** Past a flow's expiry its workflow says EXPIRED; after this grace, in milliseconds, the stream says it by itself. */
const EXPIRY_GRACE_MS = 2000;
/** Longest delay that a timer takes. */
const MAX_DELAY_MS = 2 ** 31 - 1;

/**
 * `GET /auth/connections/{id}/events`: every state of the current flow as it is recorded, whole each time, until the flow
 * ends. `Last-Event-ID` resumes. Before the first flow there is nothing to tell but heartbeats.
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
        await follow(parts, reply, {
          caller,
          row,
          afterRevision: lastEventIdOf(request.headers['last-event-id']),
          stream,
        });
      } finally {
        stream.close();
      }
    },
  });
}

interface Following {
  caller: Caller;
  row: ConnectionRow;
  afterRevision: number | null;
  stream: OpenStream;
}

async function follow(parts: ApiParts, reply: FastifyReply, following: Following): Promise<void> {
  const { caller, row, afterRevision, stream } = following;
  const writer = openEventStream(reply, {
    heartbeat: () => frame({ event: 'sse_heartbeat', timestamp: parts.clock().toISOString() }),
  });
  writer.onClose(stream.close);
  // A reader that has the end already is told nothing more.
  if (row.revision === afterRevision && hasEnded(row.document)) {
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
      // The current state is told as of now (it may have expired unsaid), a past one as it was.
      const at = isFirst && afterRevision === null ? parts.clock() : state.at;
      isFirst = false;
      running = flow?.flow_status === 'IN_PROGRESS' ? state : null;
      if (await tell(parts, writer, caller, state, at)) break;
      if (flow?.flow_status !== 'IN_PROGRESS') continue;
      const left = Date.parse(flow.flow_expires_at) - parts.clock().getTime() + EXPIRY_GRACE_MS;
      expiry = setTimeout(
        () =>
          void tell(parts, writer, caller, state, parts.clock())
            .catch(() => false)
            .finally(stream.close),
        Math.min(Math.max(left, 0), MAX_DELAY_MS),
      );
    }
    // The connection was removed, and its states with it: its flow was cancelled, whether or not that was still to be read.
    if (running !== null && !stream.signal.aborted && (await isGone(parts, row.id)))
      await tell(parts, writer, caller, canceled(running, parts.clock()), parts.clock());
  } catch (error) {
    await tellFault(parts, writer, error);
  } finally {
    clearTimeout(expiry);
    writer.end();
  }
}

/** Sends one state; true when it is the end of its flow. */
async function tell(
  parts: ApiParts,
  writer: EventStream,
  caller: Caller,
  state: { revision: number; document: ConnectionDocument; at: Date },
  at: Date,
): Promise<boolean> {
  const connection = parts.views.present(state.document, canSeeAccessLinks(caller), at);
  const event = stateEvent(connection, state.at);
  if (event === null) return false;
  await writer.send(frame(event, state.revision));
  return connection.flow_status !== 'IN_PROGRESS';
}

async function isGone({ store }: ApiParts, connectionId: string): Promise<boolean> {
  return (await store.connections.byIdUnscoped(connectionId)) === null;
}

/** The last state of a flow whose connection is removed. */
function canceled({ revision, document }: ConnectionState, at: Date): ConnectionState {
  const { flow } = document;
  const end = { flow_status: 'CANCELED', interaction: null, external_action_message: null } as const;
  return { revision: revision + 1, at, document: { ...document, flow: flow === null ? null : { ...flow, ...end } } };
}

async function tellFault(parts: ApiParts, writer: EventStream, error: unknown): Promise<void> {
  const { code, message } = toHoldfastError(error);
  const timestamp = parts.clock().toISOString();
  await writer.send(frame({ event: 'error', timestamp, error: { code, message } }));
}

function frame(data: { event: string; [name: string]: unknown }, id?: number): string {
  return eventFrame(data.event, data, id);
}

function hasEnded(document: ConnectionDocument): boolean {
  return document.flow !== null && document.flow.flow_status !== 'IN_PROGRESS';
}

/** Flow fields that a state event carries beside `flow_status` and `flow_step` (wire.md, "Streams"). */
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
 * The data of a `managed_auth_state` event: the whole state, without what is null (readers drop what is missing).
 * Null when the connection has had no flow yet: there is no state to tell.
 */
export function stateEvent(connection: ManagedAuth, at: Date): { event: string; [name: string]: unknown } | null {
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
