import type { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import type { FastifyReply } from 'fastify';
import { disconnectWhenStalled } from '../../http/slow-clients.ts';
import type { Session } from '../session/session.ts';

/** What of a session a stream needs: its use keeps the session from being ended as idle. */
export type StreamedSession = { activity: Pick<Session['activity'], 'begin'> } & Pick<Session, 'onEnd'>;

/**
 * Sends a stream; while it lasts the session is in use, and the session's end is its end. A reader that takes nothing for
 * a minute is cut off.
 */
export function sendStream(
  reply: FastifyReply,
  session: StreamedSession,
  stream: Readable,
  stuckAfterMs?: number,
): FastifyReply {
  const done = session.activity.begin();
  const stop = (): void => void stream.destroy();
  session.onEnd.add(stop);
  const settle = (): void => {
    session.onEnd.delete(stop);
    done();
  };
  finished(stream).then(settle, settle);
  disconnectWhenStalled(reply.raw, stuckAfterMs);
  return reply.send(stream);
}
