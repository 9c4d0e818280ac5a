import type { FastifyReply } from 'fastify';
import { toHoldfastError } from '../../http/errors.ts';
import { eventFrame, openEventStream, startStream } from '../../http/event-stream.ts';
import { waitForDrain, STALLED_CLIENT_MS } from '../../http/slow-clients.ts';
import type { HostedPageDeps, HostedSession } from './deps.ts';
import { toFlowView } from './view.ts';

/**
 * Sends the states of one flow as server-sent events until the flow ends, the token expires or the client disconnects.
 * Events: `state` (a FlowView, with its revision as id), `replaced` (a newer flow has started), `heartbeat`.
 * The client reconnects after any other end, so a store failure just ends the stream.
 * @param closing aborts when the service stops.
 */
export async function streamStates(
  reply: FastifyReply,
  deps: HostedPageDeps,
  session: HostedSession,
  { afterRevision, closing }: { afterRevision: number | null; closing: AbortSignal },
): Promise<void> {
  const ended = new AbortController();
  const signal = AbortSignal.any([ended.signal, closing, expiryOf(session)]);
  const heartbeat = () => eventFrame('heartbeat', {});
  const stream = openEventStream(reply, { heartbeat });
  stream.onClose(() => ended.abort());
  try {
    await stream.send(heartbeat());
    for await (const state of deps.states(session.connectionId, { signal, afterRevision })) {
      const view = toFlowView(state, session.flowId, new Date());
      if (view === null) {
        await stream.send(eventFrame('replaced', {}));
        break;
      }
      await stream.send(eventFrame('state', view, view.revision));
      if (view.status !== 'IN_PROGRESS') break;
    }
  } catch (error) {
    if (!signal.aborted) reply.log.warn({ code: toHoldfastError(error).code }, 'hosted page: stream ended early');
  } finally {
    stream.end();
  }
}

/**
 * Forwards the screencast of the site's page while the current step lasts, until the flow ends, the token expires or the client
 * disconnects. Rejects as {@link HostedPageDeps.screencast} does as long as nothing was sent.
 * @param closing aborts when the service stops.
 */
export async function streamScreencast(
  reply: FastifyReply,
  deps: HostedPageDeps,
  session: HostedSession,
  closing: AbortSignal,
): Promise<void> {
  const ended = new AbortController();
  reply.raw.once('close', () => ended.abort());
  const signal = AbortSignal.any([ended.signal, closing, expiryOf(session)]);
  const frames = await deps.screencast(session, signal);
  void waitForStepEnd(deps, session, signal).finally(() => ended.abort());
  const raw = startStream(reply, 200, {
    'content-type': 'text/event-stream; charset=utf-8',
    // A stream is the last response of its connection.
    connection: 'close',
    // Keeps nginx from buffering.
    'x-accel-buffering': 'no',
  });
  try {
    for await (const chunk of frames) {
      if (signal.aborted || raw.writableEnded) break;
      if (!raw.write(chunk)) await waitForDrain(raw, STALLED_CLIENT_MS);
    }
  } catch {
    // The step or the browser session has ended: the client reconnects and learns the current state.
  } finally {
    ended.abort();
    raw.end();
  }
}

function expiryOf({ expiresAt }: HostedSession): AbortSignal {
  return AbortSignal.timeout(Math.max(0, expiresAt - Date.now()));
}

/** Resolves when the flow is waiting for something else, has ended, or its states cannot be read. */
async function waitForStepEnd(deps: HostedPageDeps, session: HostedSession, signal: AbortSignal): Promise<void> {
  let step: string | null = null;
  try {
    for await (const state of deps.states(session.connectionId, { signal, afterRevision: null })) {
      const view = toFlowView(state, session.flowId, new Date());
      if (view === null || !view.acts_on_page || view.expires_in_ms === 0) return;
      step ??= view.interaction_id;
      if (view.interaction_id !== step) return;
    }
  } catch {
    // The store is unavailable.
  }
}
