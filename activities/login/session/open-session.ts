import type { LoginTarget } from '../../../contract/activities.ts';
import type { BrowserCreate } from '../../../contract/browsers.ts';
import { selectionOnCreate } from '../../../contract/telemetry-selection.ts';
import { BrowserServiceError } from '../../../browser-client/errors.ts';
import type { BrowserService } from '../../../browser-client/service.ts';
import {
  type Session,
  createSession,
  deleteSession,
  findSessionByName,
  updateSession,
} from '../../../browser-client/sessions.ts';
import type { BrowserProxyConfig } from '../../../contract/proxies.ts';

/** Telemetry categories whose events contain typed text, unless the service leaves it out. */
const TYPING_CATEGORIES = ['console', 'network', 'interaction', 'screenshot'] as const;

/**
 * Opens the session of a login or check, or finds it by name if an earlier attempt has opened it. Telemetry that would record
 * typed text is turned off before it is returned, unless the service declares that it leaves that out.
 */
export async function openLoginSession(
  service: BrowserService,
  target: LoginTarget,
  name: string,
  timeoutSeconds: number,
  signal: AbortSignal,
): Promise<Session> {
  const { projectId } = target;
  const session =
    (await findSessionByName(service, projectId, name)) ??
    (await create(service, target, sessionBody(target, name, timeoutSeconds), signal));
  const wanted = selectionOnCreate(target.browser?.telemetry);
  const seesTyping = TYPING_CATEGORIES.some((category) => wanted?.has(category) === true);
  if (!seesTyping || session.managed_auth === true) return session;
  const off = Object.fromEntries(TYPING_CATEGORIES.map((category) => [category, { enabled: false }]));
  try {
    await updateSession(service, projectId, session.session_id, { telemetry: { browser: off } });
  } catch (error) {
    await deleteSession(service, projectId, session.session_id).catch(() => undefined);
    throw error;
  }
  return { ...session, telemetry: { browser: { ...session.telemetry?.browser, ...off } } };
}

/** A session is headful only to be recorded, so a service without a display opens it headless. */
async function create(
  service: BrowserService,
  { projectId, recordSession }: LoginTarget,
  body: Partial<BrowserCreate>,
  signal: AbortSignal,
): Promise<Session> {
  try {
    return await createSession(service, projectId, body, signal);
  } catch (error) {
    const isRefused = error instanceof BrowserServiceError && error.code === 'browser_error' && !error.retryable;
    if (recordSession !== true || !isRefused) throw error;
    return await createSession(service, projectId, { ...body, headless: true }, signal);
  }
}

/** Whether any telemetry of a session is captured. */
export function hasTelemetry({ telemetry }: Session): boolean {
  return Object.values(telemetry?.browser ?? {}).some(({ enabled }) => enabled === true);
}

/** A desktop size at which sites show the whole login form. */
const VIEWPORT = { width: 1280, height: 800 };

/** Parameters of a session on the connection's profile, not saved by default. Headful if recorded: recorders capture a display. */
export function sessionBody(target: LoginTarget, name: string, timeoutSeconds: number): Partial<BrowserCreate> {
  const telemetry = target.browser?.telemetry;
  return {
    ...anonymousSessionBody(target, name, timeoutSeconds),
    headless: target.recordSession !== true,
    profile: { name: target.profileName, save_changes: false },
    ...(telemetry === undefined ? {} : { telemetry }),
  };
}

/** Parameters of a session that takes the same route to the site, without the profile. */
export function anonymousSessionBody(
  { browser }: Pick<LoginTarget, 'browser'>,
  name: string,
  timeoutSeconds: number,
): Partial<BrowserCreate> {
  return {
    headless: true,
    stealth: browser?.stealth ?? true,
    name,
    timeout_seconds: timeoutSeconds,
    viewport: VIEWPORT,
    ...proxyOf(browser?.proxy),
  };
}

/** Ids are sent as `proxy_id`, which older browser services also know. `default` is what a session has if nothing is sent. */
function proxyOf(proxy: BrowserProxyConfig | undefined): Pick<BrowserCreate, 'proxy' | 'proxy_id'> {
  if (proxy === undefined || proxy.mode === 'default') return {};
  return proxy.id === undefined ? { proxy } : { proxy_id: proxy.id };
}
