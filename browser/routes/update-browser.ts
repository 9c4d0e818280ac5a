import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import type { FastifyInstance } from 'fastify';
import type { BrowserUpdate } from '../../contract/browsers.ts';
import { Browser, BrowserUpdate as Body } from '../../contract/browsers.ts';
import { HoldfastError } from '../../contract/errors.ts';
import { exclusionsOf, selectionOnUpdate } from '../../contract/telemetry-selection.ts';
import { checkUserUrl } from '../../egress/guard.ts';
import { assertResizable, resizeViewport } from '../chromium/viewport.ts';
import type { BrowserDeps } from '../deps.ts';
import { websocketBaseOf } from '../http/caller.ts';
import { withSession } from '../http/with-session.ts';
import type { Session } from '../session/session.ts';
import { openStartUrl } from '../session/lifecycle.ts';
import { browserView } from '../session/view.ts';
import { resolveProxy, applyProxy, type ResolvedProxy } from '../session/session-proxy.ts';
import { SessionParams } from './params.ts';

/** `PATCH /browsers/{id or name}`: what is left out stays as it is. */
export function updateBrowserRoute(app: FastifyInstance, deps: BrowserDeps): void {
  app
    .withTypeProvider<ZodTypeProvider>()
    .patch('/browsers/:id', { schema: { params: SessionParams, body: Body, response: { 200: Browser } } }, (request) =>
      withSession(deps, request, request.params.id, (session) =>
        session.exclusively(async () => {
          const { body } = request;
          refuseUnbuilt(body);
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
          if (body.profile !== undefined) await applyProfile(deps, session, body.profile);
          if (way !== undefined) applyWay(session, way);
          if (body.viewport !== undefined) await applyViewport(session, body.viewport);
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
          return browserView(record, websocketBaseOf(request), deps.tokens);
        }),
      ),
    );
}

/** The profile that is attached: only whether it is saved can change. None attached: this one is loaded now. */
async function applyProfile(
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
function applyWay({ record, chromium }: Session, way: ResolvedProxy): void {
  applyProxy(chromium.egress, way);
  record.proxy = way.shown;
}

/** A picture that changes its size under a viewer or in a recording is no use to either. */
function assertUnwatched({ watchers }: Session): void {
  if (watchers.live + watchers.recordings === 0) return;
  const message = 'viewport: a live view or a recording is open; end it, or send `force: true`';
  throw new HoldfastError('operation_failed', message, { details: [{ code: 'watched', message }] });
}

async function applyViewport(session: Session, viewport: NonNullable<BrowserUpdate['viewport']>): Promise<void> {
  const { width, height, refresh_rate } = viewport;
  await resizeViewport(session.chromium, { width, height });
  session.record.viewport = { width, height, ...(refresh_rate === undefined ? {} : { refresh_rate }) };
}

function refuseUnbuilt(body: BrowserUpdate): void {
  if (Object.keys(body.telemetry?.export ?? {}).length === 0) return;
  const message = 'telemetry.export: this build of the browser service cannot export telemetry yet; leave it out';
  throw new HoldfastError('not_implemented', message, { details: [{ code: 'not_implemented', message }] });
}
