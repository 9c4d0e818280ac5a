import type { FastifyReply } from 'fastify';
import { toHoldfastError } from '../../http/errors.ts';
import { eventFrame, openEventStream } from '../../http/event-stream.ts';
import type { HostedPageDeps, HostedSession } from './deps.ts';
import { viewOf } from './view.ts';

/**
 * Sends the states of one flow as server-sent events until the flow, the token or the reader's patience ends.
 * Events: `state` (a FlowView, with its revision as id), `replaced` (a newer flow took its place), `heartbeat`.
 * The reader asks again after any other end, so a fault of the store just ends the stream.
 * @param closing aborts when the service stops.
 */
export async function streamStates(
  reply: FastifyReply,
  deps: HostedPageDeps,
  session: HostedSession,
  { afterRevision, closing }: { afterRevision: number | null; closing: AbortSignal },
): Promise<void> {
  const gone = new AbortController();
  const signal = AbortSignal.any([
    gone.signal,
    closing,
    AbortSignal.timeout(Math.max(0, session.expiresAt - Date.now())),
  ]);
  const heartbeat = () => eventFrame('heartbeat', {});
  const stream = openEventStream(reply, { heartbeat });
  stream.onClose(() => gone.abort());
  try {
    await stream.send(heartbeat());
    for await (const state of deps.states(session.connectionId, { signal, afterRevision })) {
      const view = viewOf(state, session.flowId, new Date());
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
