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

/** Categories whose events would carry what a person types, from a service that does not leave it out by itself. */
const TYPING_CATEGORIES = ['console', 'network', 'interaction', 'screenshot'] as const;

/**
 * The session of a login or a check: the one of that name, where an earlier try has opened it, else a new one. Before it
 * is handed out, telemetry that would see what is typed is off, unless the service says that it leaves that out.
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

/** Where a window is to be had for a recorder alone, a service that has none opens a session without. */
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

/** Whether telemetry of a session is captured. */
export function hasTelemetry({ telemetry }: Session): boolean {
  return Object.values(telemetry?.browser ?? {}).some(({ enabled }) => enabled === true);
}

/** A desktop size at which sites show their whole login form. */
const VIEWPORT = { width: 1280, height: 800 };

/**
 * The session that a flow or a check asks for: on the connection's profile, saving nothing until it is told to. One that is
 * to be recorded has a window, for a recorder sees a display.
 */
export function sessionBody(target: LoginTarget, name: string, timeoutSeconds: number): Partial<BrowserCreate> {
  const telemetry = target.browser?.telemetry;
  return {
    ...anonymousSessionBody(target, name, timeoutSeconds),
    headless: target.recordSession !== true,
    profile: { name: target.profileName, save_changes: false },
    ...(telemetry === undefined ? {} : { telemetry }),
  };
}

/** The same way to the site without the profile: what somebody sees whom it does not know. */
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

/** An id goes in the form that older peers know too. `default` is what a session has that names nothing. */
function proxyOf(proxy: BrowserProxyConfig | undefined): Pick<BrowserCreate, 'proxy' | 'proxy_id'> {
  if (proxy === undefined || proxy.mode === 'default') return {};
  return proxy.id === undefined ? { proxy } : { proxy_id: proxy.id };
}
