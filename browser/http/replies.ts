import type { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import type { FastifyReply } from 'fastify';
import { disconnectWhenStalled } from '../../http/slow-clients.ts';
import type { Session } from '../session/session.ts';

type StreamedSession = { activity: Pick<Session['activity'], 'begin'> } & Pick<Session, 'onEnd'>;

/** Sends a stream that keeps the session active and ends with it. A reader that stalls for a minute is disconnected. */
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

/** Cuts one page out of a complete list and sets the pagination headers. */
export function sendPage<Item>(
  reply: FastifyReply,
  { limit, offset }: { limit: number; offset: number },
  items: readonly Item[],
): Item[] {
  const hasMore = offset + limit < items.length;
  reply.header('x-has-more', String(hasMore));
  reply.header('x-next-offset', String(hasMore ? offset + limit : 0));
  return items.slice(offset, offset + limit);
}
