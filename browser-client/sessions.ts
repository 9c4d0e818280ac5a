import { z } from 'zod';
import type { BrowserCreate, BrowserUpdate } from '../contract/browsers.ts';
import { MANAGED_AUTH_HEADER } from '../contract/browsers.ts';
import type { CaptchaSolve } from '../contract/captcha-solves.ts';
import { ProxyFault } from '../contract/proxies.ts';
import { parseAnswer } from './answers.ts';
import { errorForStatus } from './errors.ts';
import type { BrowserService } from './service.ts';

/** The part of a session that is read. */
export const Session = z.object({
  session_id: z.string(),
  cdp_ws_url: z.string(),
  name: z.string().nullish(),
  browser_live_view_url: z.string().nullish(),
  /** True if the service keeps typed text out of telemetry; absent in other implementations. */
  managed_auth: z.boolean().nullish().catch(null),
  /** The last failure to reach the session's proxy; absent in other implementations. */
  proxy: z
    .object({ last_fault: ProxyFault.optional().catch(undefined) })
    .nullish()
    .catch(null),
  /** What is captured, by category. */
  telemetry: z
    .object({ browser: z.record(z.string(), z.object({ enabled: z.boolean().optional() })).optional() })
    .nullish()
    .catch(null),
});
export type Session = z.infer<typeof Session>;

/** Identifies a session. */
export interface SessionTarget {
  projectId: string;
  sessionId: string;
}

/**
 * Opens a session (`POST /browsers`) that secrets will be typed into. If the response is lost, the session stays until its
 * timeout. A service that stores profiles itself does not know a new connection's profile yet, so it is created there first.
 */
export async function createSession(
  service: BrowserService,
  projectId: string,
  body: Partial<BrowserCreate>,
  signal?: AbortSignal,
): Promise<Session> {
  const headers = { [MANAGED_AUTH_HEADER]: 'true' };
  const call = { method: 'POST' as const, path: '/browsers', projectId, body, headers, signal };
  const answer = await service.exchange({ ...call, schema: null });
  const profile = body.profile?.name;
  const mayBeUnknown = profile !== undefined && (answer.status === 404 || answer.status === 400);
  if (mayBeUnknown && (await createProfile(service, projectId, profile, signal))) {
    return service.call({ ...call, schema: Session });
  }
  if (answer.status >= 400) throw errorForStatus(answer.status, answer.retryAfter);
  return parseAnswer(Session, answer.text);
}

/** Creates a profile (`POST /profiles`); false if it exists already, or the service stores none itself. */
async function createProfile(
  service: BrowserService,
  projectId: string,
  name: string,
  signal?: AbortSignal,
): Promise<boolean> {
  const call = { method: 'POST' as const, path: '/profiles', projectId, body: { name }, schema: null, signal };
  return (await service.exchange(call)).status < 300;
}

/** The running session of that name, or null. Lets a retry find the session whose response was lost. */
export async function findSessionByName(
  service: BrowserService,
  projectId: string,
  name: string,
): Promise<Session | null> {
  const path = `/browsers?limit=100&query=${encodeURIComponent(name)}`;
  const sessions = await service.call({ method: 'GET', path, projectId, schema: z.array(Session) });
  return sessions.find((session) => session.name === name) ?? null;
}

/** Reads a session (`GET /browsers/{id}`). Throws `session_gone` if it has ended. */
export function retrieveSession(service: BrowserService, projectId: string, id: string): Promise<Session> {
  return service.call({ method: 'GET', path: sessionPath(id), projectId, schema: Session });
}

/** Updates a session (`PATCH /browsers/{id}`). */
export async function updateSession(
  service: BrowserService,
  projectId: string,
  id: string,
  body: Partial<BrowserUpdate>,
): Promise<void> {
  await service.call({ method: 'PATCH', path: sessionPath(id), projectId, body, schema: null });
}

/** Ends a session (`DELETE /browsers/{id}`), and saves its profile first if it was set up to. */
export async function deleteSession(service: BrowserService, projectId: string, id: string): Promise<void> {
  await service.call({ method: 'DELETE', path: sessionPath(id), projectId, schema: null });
}

/** Path of a session. Ids of other implementations may contain any character. */
export function sessionPath(id: string): string {
  return `/browsers/${encodeURIComponent(id)}`;
}

/** The part of a recording that is read; other implementations may send more. */
const Replay = z.object({ replay_id: z.string().min(1), finished_at: z.string().nullish() });
type Replay = z.infer<typeof Replay>;

/** Timeout of replay calls, in milliseconds: a login waits for the recorder to start. */
const START_TIMEOUT_MS = 10_000;

/** Starts a recording (`POST /browsers/{id}/replays`), which ends with its session. Rejected while another one runs. */
export function startReplay(service: BrowserService, target: SessionTarget, signal?: AbortSignal): Promise<Replay> {
  return service.call({ method: 'POST', ...replaysCall(target), schema: Replay, signal });
}

/** Lists the recordings of a session (`GET /browsers/{id}/replays`), running or ended. */
export function listReplays(service: BrowserService, target: SessionTarget, signal?: AbortSignal): Promise<Replay[]> {
  return service.call({ method: 'GET', ...replaysCall(target), schema: z.array(Replay), signal });
}

function replaysCall({ projectId, sessionId }: SessionTarget): { path: string; projectId: string; timeoutMs: number } {
  return { path: `${sessionPath(sessionId)}/replays`, projectId, timeoutMs: START_TIMEOUT_MS };
}

/** Reports a solver's work on a captcha to the session's telemetry. Fails if the service does not support that. */
export async function noteCaptchaSolve(
  service: BrowserService,
  { projectId, sessionId }: SessionTarget,
  body: CaptchaSolve,
): Promise<void> {
  const path = `/captcha_solves/${encodeURIComponent(sessionId)}`;
  await service.call({ method: 'POST', path, projectId, body, schema: null });
}
