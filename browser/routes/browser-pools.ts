import type { FastifyRequest } from 'fastify';
import { BROWSER_POOL_ROUTES } from '../../contract/browser-pool-routes.ts';
import type { BrowserPool as BrowserPoolAnswer } from '../../contract/browser-pools.ts';
import { isOurRegion, REGION } from '../../contract/browsers.ts';
import { checkUserUrl } from '../../egress/guard.ts';
import { abortOnClose } from '../../http/slow-clients.ts';
import type { BrowserDeps } from '../deps.ts';
import { invocationOf, projectOf, projectsOf, websocketBaseOf } from '../http/caller.ts';
import type { Router } from '../http/router.ts';
import { sendPage } from '../http/replies.ts';
import type { BrowserPool } from '../pools/pool.ts';
import { rejectUnsupported } from '../session/new-session.ts';
import { browserView } from '../session/view.ts';

/** `/browser_pools`: browsers kept ready for use. */
export function poolRoutes({ route }: Router, { pools, tokens, policy }: BrowserDeps): void {
  const poolOf = ({ request, params }: { request: FastifyRequest; params: { id_or_name: string } }): BrowserPool =>
    pools.find(projectsOf(request), params.id_or_name);

  route(BROWSER_POOL_ROUTES.createBrowserPool, async ({ request, body }) =>
    poolView(await pools.create(projectOf(request), body)),
  );
  route(BROWSER_POOL_ROUTES.listBrowserPools, ({ request, query, reply }) => {
    const found = isOurRegion(query.region) ? pools.list(projectsOf(request), query) : [];
    return sendPage(reply, query, found).map(poolView);
  });
  route(BROWSER_POOL_ROUTES.retrieveBrowserPool, (call) => poolView(poolOf(call)));
  route(BROWSER_POOL_ROUTES.updateBrowserPool, async (call) =>
    poolView(await pools.update(poolOf(call), call.body ?? {})),
  );
  route(BROWSER_POOL_ROUTES.deleteBrowserPool, (call) => pools.remove(poolOf(call), call.body?.force ?? false));

  route(BROWSER_POOL_ROUTES.acquireBrowser, async (call) => {
    const { request, reply } = call;
    const wanted = { ...call.body, invocationId: invocationOf(request) };
    rejectUnsupported(wanted);
    if (wanted.start_url !== undefined) checkUserUrl(wanted.start_url, { policy, field: 'start_url' });
    const disconnected = abortOnClose(reply);
    const pool = poolOf(call);
    const session = await pool.acquire(wanted, disconnected);
    if (session === null) return reply.code(204).send();
    const answer = await browserView(session.record, websocketBaseOf(request), tokens);
    // A client that has disconnected would never release it.
    if (disconnected.aborted) await pool.release(session.record.id, true);
    return answer;
  });
  route(BROWSER_POOL_ROUTES.releaseBrowser, (call) =>
    poolOf(call).release(call.body.session_id, call.body.reuse ?? true),
  );
  route(BROWSER_POOL_ROUTES.flushBrowserPool, (call) => poolOf(call).flush());
}

/** A pool as callers see it. */
function poolView(pool: BrowserPool): BrowserPoolAnswer {
  const { id, name, createdAt, config, profileId, extensionIds } = pool.stored();
  const { acquired, available } = pool.counts();
  return {
    id,
    ...(name === null ? {} : { name }),
    created_at: createdAt.toISOString(),
    region: REGION,
    acquired_count: acquired,
    available_count: available,
    browser_pool_config: config,
    ...(profileId === null ? {} : { profile_id: profileId }),
    extension_ids: extensionIds,
  };
}
