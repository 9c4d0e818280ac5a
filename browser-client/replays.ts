import { z } from 'zod';
import type { BrowserService } from './service.ts';
import type { SessionTarget } from './sessions.ts';
import { sessionPath } from './sessions.ts';

/** What is read of a recording; a peer may answer more. */
const Replay = z.object({ replay_id: z.string().min(1), finished_at: z.string().nullish() });
export type Replay = z.infer<typeof Replay>;

/** Longest that a recorder may take to start, in milliseconds: what waits for it is a login. */
const START_TIMEOUT_MS = 10_000;

/** Starts a recording (`POST /browsers/{id}/replays`). It ends with its session. Refused while another one runs. */
export function startReplay(service: BrowserService, target: SessionTarget, signal?: AbortSignal): Promise<Replay> {
  return service.call({ method: 'POST', ...common(target), schema: Replay, signal });
}

/** The recordings of a session (`GET /browsers/{id}/replays`), of one that has ended, too. */
export function listReplays(service: BrowserService, target: SessionTarget, signal?: AbortSignal): Promise<Replay[]> {
  return service.call({ method: 'GET', ...common(target), schema: z.array(Replay), signal });
}

function common({ projectId, sessionId }: SessionTarget): { path: string; projectId: string; timeoutMs: number } {
  return { path: `${sessionPath(sessionId)}/replays`, projectId, timeoutMs: START_TIMEOUT_MS };
}
