import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { BrowserRoute } from '../../contract/browser-routes.ts';
import { readInput } from '../../http/errors.ts';
import type { BrowserDeps } from '../deps.ts';
import type { Session } from '../session/session.ts';
import { createAuthorizer } from './authentication.ts';
import { projectsOf } from './caller.ts';

/** A validated call, as its handler receives it. */
interface Call<Params extends z.ZodType, Query extends z.ZodType, Body extends z.ZodType> {
  params: z.output<Params>;
  query: z.output<Query>;
  body: z.output<Body>;
  request: FastifyRequest;
  reply: FastifyReply;
}

/** A handler's result: the contract's answer, or the reply if the handler sends it itself. */
type Result<Answer extends z.ZodType> = z.output<Answer> | FastifyReply | Promise<z.output<Answer> | FastifyReply>;

/** Registers handlers for the operations declared as {@link BrowserRoute}s. */
export interface Router {
  /** An operation on sessions. */
  route: <Params extends z.ZodType, Query extends z.ZodType, Body extends z.ZodType, Answer extends z.ZodType>(
    contract: BrowserRoute<Params, Query, Body, Answer>,
    handler: (call: Call<Params, Query, Body>) => Result<Answer>,
  ) => void;
  /** An operation in a running session, which counts as active during the call. */
  inSession: <
    Params extends z.ZodType<{ id: string }>,
    Query extends z.ZodType,
    Body extends z.ZodType,
    Answer extends z.ZodType,
  >(
    contract: BrowserRoute<Params, Query, Body, Answer>,
    handler: (session: Session, call: Call<Params, Query, Body>) => Result<Answer>,
  ) => void;
}

/** Creates a router for an application, or for a scope of it with its own body parsers. */
export function createRouter(app: FastifyInstance, deps: BrowserDeps): Router {
  const authorize = createAuthorizer(deps);
  const route: Router['route'] = (contract, handler) => {
    const { method, url, params, query, body, answer, status, produces, opens } = contract;
    const isJson = produces === undefined && !(answer instanceof z.ZodVoid);
    app.route({
      method,
      url,
      schema: isJson ? { response: { [status]: answer } } : {},
      // Before the body is read.
      onRequest: (request) => authorize(opens, request),
      handler: async (request, reply) => {
        const result = await handler({
          params: readInput(params, request.params),
          query: readInput(query, opens === 'session' ? withoutToken(request.query) : request.query),
          body: readInput(body, request.body),
          request,
          reply,
        });
        return reply.sent || result === reply ? reply : reply.code(status).send(result);
      },
    });
  };
  return {
    route,
    inSession: (contract, handler) => {
      route(contract, async (call) => {
        const session = deps.registry.running(projectsOf(call.request), call.params.id);
        const done = session.activity.begin();
        try {
          return await handler(session, call);
        } finally {
          done();
        }
      });
    },
  };
}

/** Operations do not declare the token, which is checked separately. */
function withoutToken(query: unknown): unknown {
  if (typeof query !== 'object' || query === null || !('jwt' in query)) return query;
  const { jwt: _, ...others } = query;
  return others;
}
