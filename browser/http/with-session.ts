import type { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { cutOffWhenStuck } from '../../http/readers.ts';
import type { BrowserDeps } from '../deps.ts';
import type { Session } from '../session/session.ts';
import { projectsOf } from './caller.ts';

/** Runs a call on a running session; it counts as activity for as long as it takes. Throws `not_found`. */
export async function withSession<T>(
  deps: BrowserDeps,
  request: FastifyRequest,
  idOrName: string,
  action: (session: Session) => Promise<T>,
): Promise<T> {
  const session = deps.registry.running(projectsOf(request), idOrName);
  const done = session.activity.begin();
  try {
    return await action(session);
  } finally {
    done();
  }
}

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
  cutOffWhenStuck(reply.raw, stuckAfterMs);
  return reply.send(stream);
}
