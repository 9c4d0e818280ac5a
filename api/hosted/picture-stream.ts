import type { FastifyReply } from 'fastify';
import { startStream } from '../../http/event-stream.ts';
import { waitForDrain, STALLED_CLIENT_MS } from '../../http/slow-clients.ts';
import type { HostedPageDeps, HostedSession } from './deps.ts';
import { viewOf } from './view.ts';

/**
 * Passes the pictures of the site's page on, as the browser service sends them, while the step lasts that they are for. They end
 * with it, with the flow, the token or the reader. Rejects as {@link HostedPageDeps.pictures} does while nothing was sent.
 * @param closing aborts when the service stops.
 */
export async function streamPictures(
  reply: FastifyReply,
  deps: HostedPageDeps,
  session: HostedSession,
  closing: AbortSignal,
): Promise<void> {
  const over = new AbortController();
  reply.raw.once('close', () => over.abort());
  const lifetime = AbortSignal.timeout(Math.max(0, session.expiresAt - Date.now()));
  const signal = AbortSignal.any([over.signal, closing, lifetime]);
  const pictures = await deps.pictures(session, signal);
  void untilStepEnds(deps, session, signal).finally(() => over.abort());
  const raw = startStream(reply, 200, {
    'content-type': 'text/event-stream; charset=utf-8',
    // A stream is the last answer of its connection.
    connection: 'close',
    // Proxies of the nginx kind would hold pictures back.
    'x-accel-buffering': 'no',
  });
  try {
    for await (const part of pictures) {
      if (signal.aborted || raw.writableEnded) break;
      if (!raw.write(part)) await waitForDrain(raw, STALLED_CLIENT_MS);
    }
  } catch {
    // The step is over, or the browser's session: the page asks again, and is told then what is open to it.
  } finally {
    over.abort();
    raw.end();
  }
}

/** Resolves when the flow waits for something else, or for nobody, or nothing more can be learnt of it. */
async function untilStepEnds(deps: HostedPageDeps, session: HostedSession, signal: AbortSignal): Promise<void> {
  let step: string | null = null;
  try {
    for await (const state of deps.states(session.connectionId, { signal, afterRevision: null })) {
      const view = viewOf(state, session.flowId, new Date());
      if (view === null || !view.acts_on_page || view.expires_in_ms === 0) return;
      step ??= view.interaction_id;
      if (view.interaction_id !== step) return;
    }
  } catch {
    // The store is away: likewise.
  }
}
