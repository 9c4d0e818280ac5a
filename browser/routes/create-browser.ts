import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import type { FastifyInstance } from 'fastify';
import { Browser, BrowserCreate } from '../../contract/browsers.ts';
import { HoldfastError } from '../../contract/errors.ts';
import { checkUserUrl } from '../../egress/guard.ts';
import { checkChromePolicy } from '../chromium/policy.ts';
import type { BrowserDeps } from '../deps.ts';
import { isManagedAuth, projectOf, websocketBaseOf } from '../http/caller.ts';
import { browserView } from '../session/view.ts';

const Body = BrowserCreate.nullish().transform((body): BrowserCreate => body ?? {});

/** `POST /browsers`: a session, its profile loaded, ready to be driven. */
export function createBrowserRoute(app: FastifyInstance, deps: BrowserDeps): void {
  app
    .withTypeProvider<ZodTypeProvider>()
    .post('/browsers', { schema: { body: Body, response: { 200: Browser } } }, async (request) => {
      refuseUnbuilt(request.body);
      const { start_url: startUrl, chrome_policy: policy } = request.body;
      if (policy !== undefined) checkChromePolicy(policy);
      if (startUrl !== undefined) checkUserUrl(startUrl, { policy: deps.policy, field: 'start_url' });
      const session = await deps.lifecycle.create(projectOf(request), request.body, isManagedAuth(request));
      return browserView(session.record, websocketBaseOf(request), deps.tokens);
    });
}

/** What would silently not happen is refused by name instead. */
function refuseUnbuilt(body: BrowserCreate): void {
  const unbuilt: [string, boolean][] = [
    ['extensions', (body.extensions ?? []).length > 0],
    ['gpu', body.gpu === true],
    ['network', Object.keys(body.network ?? {}).length > 0],
    ['telemetry.export', Object.keys(body.telemetry?.export ?? {}).length > 0],
  ];
  const first = unbuilt.find(([, given]) => given)?.[0];
  if (first === undefined) return;
  const message = `${first}: this build of the browser service cannot do this yet; leave it out`;
  throw new HoldfastError('not_implemented', message, { details: [{ code: 'not_implemented', message }] });
}
