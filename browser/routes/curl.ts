import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import type { FastifyInstance } from 'fastify';
import { Curl, CurlResult } from '../../contract/curl.ts';
import { checkUserUrl } from '../../egress/guard.ts';
import { request as requestBy } from '../curl/request.ts';
import type { BrowserDeps } from '../deps.ts';
import { whenGone } from '../../http/readers.ts';
import { withSession } from '../http/with-session.ts';
import { SessionParams } from './params.ts';

/** `POST /browsers/{id}/curl`: one HTTP request that the session's browser makes. */
export function curlRoute(app: FastifyInstance, deps: BrowserDeps): void {
  app
    .withTypeProvider<ZodTypeProvider>()
    .post(
      '/browsers/:id/curl',
      { schema: { params: SessionParams, body: Curl, response: { 200: CurlResult } } },
      (request, reply) =>
        withSession(deps, request, request.params.id, (session) => {
          const { href: url } = checkUserUrl(request.body.url, { policy: deps.policy, field: 'url' });
          return requestBy(session, { ...request.body, url }, whenGone(reply));
        }),
    );
}
