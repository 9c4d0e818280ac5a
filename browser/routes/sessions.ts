import { BROWSER_ROUTES } from '../../contract/browser-routes.ts';
import { isOurRegion, unknownMembers, type BrowserUpdate } from '../../contract/browsers.ts';
import { HoldfastError } from '../../contract/errors.ts';
import { exclusionsOf, selectionOnUpdate } from '../../contract/telemetry-selection.ts';
import { checkUserUrl } from '../../egress/guard.ts';
import { assertResizable, resizeViewport } from '../chromium/launch.ts';
import type { BrowserDeps } from '../deps.ts';
import { sendPage } from '../http/replies.ts';
import { invocationOf, isManagedAuth, projectOf, projectsOf, websocketBaseOf } from '../http/caller.ts';
import type { Router } from '../http/router.ts';
import { appendServiceNote } from '../logs/part-log.ts';
import { checkStartOptions, rejectUnsupported } from '../session/new-session.ts';
import { openStartUrl } from '../session/lifecycle.ts';
import type { Session } from '../session/session.ts';
import { applyProxy, resolveProxy } from '../session/session-proxy.ts';
import { browserView } from '../session/view.ts';

/** Most unknown members that are logged. */
const MAX_LOGGED_MEMBERS = 20;

/** `/browsers` and `/browsers/{id or name}`: the lifecycle of sessions. */
export function sessionRoutes({ route, inSession }: Router, deps: BrowserDeps): void {
  route(BROWSER_ROUTES.createBrowser, async ({ request, body }) => {
    const wanted = body ?? {};
    checkStartOptions(wanted, deps.policy);
    const kind = { managedAuth: isManagedAuth(request) };
    const asked = { ...wanted, invocation_id: invocationOf(request) ?? wanted.invocation_id };
    const session = await deps.lifecycle.create(projectOf(request), asked, kind);
    await logUnknownMembers(session, unknownMembers(wanted));
    return browserView(session.record, websocketBaseOf(request), deps.tokens);
  });

  route(BROWSER_ROUTES.listBrowsers, async ({ request, query, reply }) => {
    const { query: text, include_deleted: includeDeleted, region } = query;
    const status = query.status ?? (includeDeleted === true ? 'all' : 'active');
    const all = deps.registry.list(projectsOf(request), { status, query: text, tags: tagsOf(query) });
    const records = isOurRegion(region) ? all : [];
    return Promise.all(
      sendPage(reply, query, records).map((record) => browserView(record, websocketBaseOf(request), deps.tokens)),
    );
  });

  // Ended sessions only with `include_deleted`.
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

  // 204 means that the profile, if it is to be saved, has been saved.
  route(BROWSER_ROUTES.deleteBrowser, ({ request, params }) =>
    deps.lifecycle.end(deps.registry.running(projectsOf(request), params.id), 'deleted'),
  );
}

/** Newer clients may send members that this service does not know; the session's log lists what was ignored. */
async function logUnknownMembers({ workspace }: Session, members: string[]): Promise<void> {
  if (members.length === 0) return;
  const names = members.slice(0, MAX_LOGGED_MEMBERS).map((member) => JSON.stringify(member.slice(0, 100)));
  await appendServiceNote(
    workspace.folder.logs,
    `warning: POST /browsers ignored unknown members: ${names.join(', ')}`,
  );
}

/** Parses the `tags[key]=value` pairs of a query. */
function tagsOf(query: Record<string, unknown>): Record<string, string> {
  const tags: Record<string, string> = {};
  for (const [name, value] of Object.entries(query)) {
    const key = /^tags\[(.+)\]$/.exec(name)?.[1];
    if (key !== undefined && typeof value === 'string') tags[key] = value;
  }
  return tags;
}

/** Absent members stay unchanged. */
async function update(deps: BrowserDeps, session: Session, body: BrowserUpdate): Promise<void> {
  rejectUnsupported({ telemetry: body.telemetry });
  if (body.start_url !== undefined && body.start_url !== '') {
    checkUserUrl(body.start_url, { policy: deps.policy, field: 'start_url' });
  }
  // Validate everything first: a rejected request changes nothing.
  if (typeof body.name === 'string' && body.name !== '') {
    deps.registry.assertNameFree(session.record.projectId, body.name, session.record.id);
  }
  if (body.viewport !== undefined) {
    assertResizable(session.chromium, body.viewport);
    if (body.viewport.force !== true) assertUnwatched(session);
  }
  const proxy = await resolveProxy(deps.proxies, session.record.projectId, body);
  if (body.profile !== undefined) await attachProfile(deps, session, body.profile);
  if (proxy !== undefined) {
    // Cuts open connections, so that nothing continues through the former proxy.
    applyProxy(session.chromium.egress, proxy);
    session.record.proxy = proxy.view;
  }
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

/** Loads a profile if the session has none. Of an attached profile, only `save_changes` can change. */
async function attachProfile(deps: BrowserDeps, session: Session, ref: NonNullable<BrowserUpdate['profile']>) {
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

/** Live views and recordings cannot handle a change of size. */
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
