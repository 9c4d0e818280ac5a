import type { LoginTarget } from '../../contract/activities.ts';
import { listReplays, startReplay } from '../browser/replays.ts';
import type { BrowserService } from '../browser/service.ts';

/**
 * Has a session of a login recorded where its connection asks for that; answers the recording's id. Null when nothing is
 * recorded: a recorder that fails, or a service that has none, never fails a login. May run again: a recording that an
 * earlier try has started goes on. It ends with the session.
 */
export async function recordSession(
  service: BrowserService,
  { projectId, recordSession: wanted }: LoginTarget,
  sessionId: string,
  signal: AbortSignal,
): Promise<string | null> {
  if (wanted !== true) return null;
  const target = { projectId, sessionId };
  try {
    const running = (await listReplays(service, target, signal)).find(({ finished_at: end }) => (end ?? null) === null);
    return (running ?? (await startReplay(service, target, signal))).replay_id;
  } catch {
    signal.throwIfAborted();
    return null;
  }
}
