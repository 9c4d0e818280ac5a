import type { FastifyReply } from 'fastify';
import type { HostedPorts, HostedSession } from './ports.ts';
import { viewOf } from './view.ts';

/** Time between two signs of life, in milliseconds: below the idle limit of common proxies and phones' carriers. */
const HEARTBEAT_MS = 15_000;

/**
 * Sends the states of one flow as server-sent events until the flow, the token or the reader's patience ends.
 * Events: `state` (a FlowView, with its revision as id), `replaced` (a newer flow took its place), `heartbeat`.
 * The reader asks again after any other end, so a fault of the store just ends the stream.
 * @param closing aborts when the service stops.
 */
export async function streamStates(
  reply: FastifyReply,
  ports: HostedPorts,
  session: HostedSession,
  { afterRevision, closing }: { afterRevision: number | null; closing: AbortSignal },
): Promise<void> {
  const { raw } = reply;
  const ended = new AbortController();
  const end = () => ended.abort();
  raw.once('close', end);
  closing.addEventListener('abort', end);
  const life = setTimeout(end, Math.max(0, session.expiresAt - Date.now()));
  const send = (event: string, data: unknown, id?: number) => {
    if (raw.destroyed || raw.writableEnded) return;
    raw.write(`event: ${event}\n${id === undefined ? '' : `id: ${id}\n`}data: ${JSON.stringify(data)}\n\n`);
    // A reader that has stopped reading gets no queue of its own: it comes back with Last-Event-ID.
    if (raw.writableLength > 1_000_000) raw.destroy();
  };
  const heartbeat = setInterval(() => send('heartbeat', {}), HEARTBEAT_MS);
  for (const [name, value] of Object.entries(reply.getHeaders())) if (value !== undefined) raw.setHeader(name, value);
  raw.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8', 'x-accel-buffering': 'no' });
  send('heartbeat', {});
  try {
    for await (const state of ports.states(session.connectionId, { signal: ended.signal, afterRevision })) {
      const view = viewOf(state, session.flowId, new Date());
      if (view === null) {
        send('replaced', {});
        break;
      }
      send('state', view, view.revision);
      if (view.status !== 'IN_PROGRESS') break;
    }
  } catch (error) {
    if (!ended.signal.aborted) reply.log.warn({ code: codeOf(error) }, 'hosted page: stream ended early');
  } finally {
    clearTimeout(life);
    clearInterval(heartbeat);
    closing.removeEventListener('abort', end);
    end();
    raw.end();
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'internal_error';
}
