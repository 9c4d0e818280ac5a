import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { HoldfastError } from '../../contract/errors.ts';
import { TelemetryStreamQuery } from '../../contract/telemetry-queries.ts';
import type { BrowserDeps } from '../deps.ts';
import { projectsOf } from '../http/caller.ts';
import { openEventStream } from '../../http/event-stream.ts';
import { lastEventIdOf } from '../../http/headers.ts';
import type { Session } from '../session/session.ts';
import { streamEvents } from '../telemetry/stream.ts';
import { SessionParams } from './params.ts';

/**
 * `GET /browsers/{id}/telemetry/stream`: events as they happen, until the session ends. `Last-Event-ID` goes on after that
 * event; `replay=all` starts with the oldest that is kept; `type` names those that are wanted. The bearer key opens it, or the session's own token as `jwt`
 * (the one in its `cdp_ws_url`), for clients that talk to a session directly.
 */
export function telemetryStreamRoute(
  app: FastifyInstance,
  deps: BrowserDeps,
  checkBearer: (request: FastifyRequest) => void,
): void {
  app.withTypeProvider<ZodTypeProvider>().get(
    '/browsers/:id/telemetry/stream',
    {
      schema: { params: SessionParams, querystring: TelemetryStreamQuery },
      onRequest: (request, _reply, next) => {
        // Before anything else of the request is parsed.
        if (tokenOf(request) === undefined) checkBearer(request);
        next();
      },
    },
    async (request, reply) => {
      const session = await admitted(deps, request, request.params.id);
      const { log } = session.record.telemetry;
      // Reading is a call, but whoever only watches does not keep a browser alive.
      session.activity.begin()();
      const seq = resumeFrom(request.headers['last-event-id'], request.query.replay, log.lastSeq());
      const { type } = request.query;
      await streamEvents(log, seq, openEventStream(reply), type === undefined ? null : new Set(type));
    },
  );
}

async function admitted(deps: BrowserDeps, request: FastifyRequest, idOrName: string): Promise<Session> {
  const token = tokenOf(request);
  if (token === undefined) return deps.registry.running(projectsOf(request), idOrName);
  if (!(await deps.tokens.verify(token, idOrName, 'cdp'))) {
    throw new HoldfastError(
      'unauthorized',
      'The token in the URL is missing, expired or for another session; get the session for a new one',
    );
  }
  const session = deps.registry.byId(idOrName);
  if (session === undefined) throw new HoldfastError('not_found', 'The browser session has ended');
  return session;
}

function tokenOf(request: FastifyRequest): string | undefined {
  const { query } = request;
  if (typeof query !== 'object' || query === null || !('jwt' in query)) return undefined;
  return typeof query.jwt === 'string' && query.jwt !== '' ? query.jwt : undefined;
}

/** The event to go on after: what a reader has seen counts more than what it asks for. */
function resumeFrom(lastEventId: string | string[] | undefined, replay: string | undefined, lastSeq: number): number {
  const seen = lastEventIdOf(lastEventId);
  if (seen !== null && seen <= lastSeq) return seen;
  return replay === 'all' ? 0 : lastSeq;
}
