import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import type { FastifyInstance } from 'fastify';
import { PlaywrightExecute, PlaywrightResult } from '../../contract/playwright.ts';
import type { BrowserDeps } from '../deps.ts';
import { whenGone } from '../../http/readers.ts';
import { withSession } from '../http/with-session.ts';
import { executePlaywright } from '../playwright/execute.ts';
import { createQueue } from '../session/session.ts';
import type { Session } from '../session/session.ts';
import { SessionParams } from './params.ts';

/** `POST /browsers/{id}/playwright/execute`: a caller's code, inside the session. Runs of one session follow each other. */
export function playwrightRoute(app: FastifyInstance, deps: BrowserDeps): void {
  const queues = new WeakMap<Session, ReturnType<typeof createQueue>>();
  app
    .withTypeProvider<ZodTypeProvider>()
    .post(
      '/browsers/:id/playwright/execute',
      { schema: { params: SessionParams, body: PlaywrightExecute, response: { 200: PlaywrightResult } } },
      (request, reply) =>
        withSession(deps, request, request.params.id, (session) => {
          const queue = queues.get(session) ?? createQueue();
          queues.set(session, queue);
          const gone = whenGone(reply);
          return queue(() => executePlaywright(session, deps.cdpProxy, request.body, gone));
        }),
    );
}
