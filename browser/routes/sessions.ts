import { BROWSER_ROUTES } from '../../contract/browser-routes.ts';
import type { BrowserCreate, BrowserUpdate } from '../../contract/browsers.ts';
import { HoldfastError } from '../../contract/errors.ts';
import { exclusionsOf, selectionOnUpdate } from '../../contract/telemetry-selection.ts';
import { checkUserUrl } from '../../egress/guard.ts';
import { checkChromePolicy } from '../chromium/policy.ts';
import { assertResizable, resizeViewport } from '../chromium/viewport.ts';
import type { BrowserDeps } from '../deps.ts';
import { isManagedAuth, projectOf, projectsOf, websocketBaseOf } from '../http/caller.ts';
import type { Router } from '../http/router.ts';
import { openStartUrl } from '../session/lifecycle.ts';
import type { Session } from '../session/session.ts';
import { applyProxy, resolveProxy, type ResolvedProxy } from '../session/session-proxy.ts';
import { browserView } from '../session/view.ts';

/** `/browsers` and `/browsers/{id or name}`: the life of sessions. */
export function sessionRoutes({ route, inSession }: Router, deps: BrowserDeps): void {
  route(BROWSER_ROUTES.createBrowser, async ({ request, body }) => {
    const wanted = body ?? {};
    refuseUnavailable(wanted);
    const { start_url: startUrl, chrome_policy: policy } = wanted;
    if (policy !== undefined) checkChromePolicy(policy);
    if (startUrl !== undefined) checkUserUrl(startUrl, { policy: deps.policy, field: 'start_url' });
    const session = await deps.lifecycle.create(projectOf(request), wanted, isManagedAuth(request));
    return browserView(session.record, websocketBaseOf(request), deps.tokens);
  });

  route(BROWSER_ROUTES.listBrowsers, async ({ request, query, reply }) => {
    const { limit, offset, query: text, include_deleted: includeDeleted } = query;
    const status = query.status ?? (includeDeleted === true ? 'all' : 'active');
    const records = deps.registry.list(projectsOf(request), { status, query: text, tags: tagsOf(query) });
    const page = records.slice(offset, offset + limit);
    const hasMore = offset + limit < records.length;
    reply.header('x-has-more', String(hasMore));
    reply.header('x-next-offset', String(hasMore ? offset + limit : 0));
    return Promise.all(page.map((record) => browserView(record, websocketBaseOf(request), deps.tokens)));
  });

  // An ended session only with `include_deleted`.
  route(BROWSER_ROUTES.retrieveBrowser, ({ request, params, query }) => {
    const record = deps.registry.find(projectsOf(request), params.id, query.include_deleted === true);
    return browserView(record, websocketBaseOf(request), deps.tokens);
  });

  inSession(BROWSER_ROUTES.updateBrowser, (session, { request, body }) =>
    session.exclusively(async () => {
      await update(deps, session, body ?? {});
      return browserView(session.record, websocketBaseOf(request), deps.tokens);
    }),
  );

  // When its profile is to be saved, 204 means that it is saved.
  route(BROWSER_ROUTES.deleteBrowser, ({ request, params }) =>
    deps.lifecycle.end(deps.registry.running(projectsOf(request), params.id), 'deleted'),
  );
}

/** What would silently not happen is refused by name instead, with what to do. */
function refuseUnavailable({ extensions = [], gpu, network, telemetry }: BrowserCreate): void {
  const faults: string[] = [];
  if (extensions.length > 0) {
    faults.push('extensions: none are kept here; upload them to the running session, `POST /browsers/{id}/extensions`');
  }
  if (gpu === true) faults.push('gpu: browsers here draw without a graphics card; leave it out');
  if (Object.keys(network ?? {}).length > 0) {
    faults.push('network: is the same for all sessions here; choose the way out by `proxy`, or leave it out');
  }
  if (Object.keys(telemetry?.export ?? {}).length > 0) {
    faults.push('telemetry.export: nothing is exported from here; read `telemetry/stream` or `telemetry/events`');
  }
  const details = faults.map((message) => ({ code: 'not_available', message }));
  if (details[0] !== undefined) throw new HoldfastError('invalid_request', details[0].message, { details });
}

/** `tags[key]=value` pairs of a query. */
function tagsOf(query: Record<string, unknown>): Record<string, string> {
  const tags: Record<string, string> = {};
  for (const [name, value] of Object.entries(query)) {
    const key = /^tags\[(.+)\]$/.exec(name)?.[1];
    if (key !== undefined && typeof value === 'string') tags[key] = value;
  }
  return tags;
}

/** What is left out stays as it is. */
async function update(deps: BrowserDeps, session: Session, body: BrowserUpdate): Promise<void> {
  refuseUnavailable({ telemetry: body.telemetry });
  if (body.start_url !== undefined && body.start_url !== '') {
    checkUserUrl(body.start_url, { policy: deps.policy, field: 'start_url' });
  }
  // What can fail comes first: a refused request changes nothing.
  if (typeof body.name === 'string' && body.name !== '') {
    deps.registry.assertNameFree(session.record.projectId, body.name, session.record.id);
  }
  if (body.viewport !== undefined) {
    assertResizable(session.chromium, body.viewport);
    if (body.viewport.force !== true) assertUnwatched(session);
  }
  const way = await resolveProxy(deps.proxies, session.record.projectId, body);
  if (body.profile !== undefined) await attachProfile(deps, session, body.profile);
  if (way !== undefined) changeProxy(session, way);
  if (body.viewport !== undefined) await changeViewport(session, body.viewport);
  const { record } = session;
  const { telemetry } = record;
  telemetry.exclude(exclusionsOf(body.telemetry) ?? telemetry.excluded());
  await telemetry.select(selectionOnUpdate(telemetry.selection(), body.telemetry));
  if (body.name !== undefined) record.name = body.name === null || body.name === '' ? undefined : body.name;
  if (body.tags !== undefined && body.tags !== null) record.tags = body.tags;
  if (body.timeout_seconds !== undefined) {
    record.timeoutSeconds = body.timeout_seconds;
    session.activity.setTimeout(body.timeout_seconds * 1000);
  }
  openStartUrl(session, body.start_url);
}

/** The profile that is attached: only whether it is saved can change. None attached: this one is loaded now. */
async function attachProfile(
  deps: BrowserDeps,
  session: Session,
  ref: NonNullable<BrowserUpdate['profile']>,
): Promise<void> {
  const { record } = session;
  const attached = record.profile;
  if (attached === null) {
    record.profile = await deps.profiles.attach(session, ref, false);
    return;
  }
  if (ref.id !== undefined ? ref.id !== attached.id : ref.name !== attached.name) {
    const message = 'profile: the session has another profile; end it and create a session with this one';
    throw new HoldfastError('invalid_request', message, { details: [{ code: 'profile_attached', message }] });
  }
  if (ref.save_changes !== undefined) attached.saveChanges = ref.save_changes;
}

/** What is open goes on by no way that was taken away: its connections are cut. */
function changeProxy({ record, chromium }: Session, way: ResolvedProxy): void {
  applyProxy(chromium.egress, way);
  record.proxy = way.shown;
}

/** A picture that changes its size under a viewer or in a recording is no use to either. */
function assertUnwatched({ watchers }: Session): void {
  if (watchers.live + watchers.recordings === 0) return;
  const message = 'viewport: a live view or a recording is open; end it, or send `force: true`';
  throw new HoldfastError('operation_failed', message, { details: [{ code: 'watched', message }] });
}

async function changeViewport(session: Session, viewport: NonNullable<BrowserUpdate['viewport']>): Promise<void> {
  const { width, height, refresh_rate } = viewport;
  await resizeViewport(session.chromium, { width, height });
  session.record.viewport = { width, height, ...(refresh_rate === undefined ? {} : { refresh_rate }) };
}
