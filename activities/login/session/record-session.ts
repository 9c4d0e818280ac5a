import type { LoginTarget } from '../../../contract/activities.ts';
import { newId } from '../../../contract/ids.ts';
import type { Store } from '../../../store/store.ts';
import { fetchRecordings, recordedIn, startRecorder, stopRecorder } from '../../../browser-client/recorder.ts';
import { listReplays, startReplay } from '../../../browser-client/replays.ts';
import type { BrowserService } from '../../../browser-client/service.ts';
import type { SessionTarget } from '../../../browser-client/sessions.ts';

/** What a recording's id looks like: names of files in a session are whatever its programs made of them. */
const RECORDING_ID = /^rep_[a-z0-9]{25}$/;

/** The recording of a session, or why there is none; both null where none was asked for. */
export interface RecordingResult {
  replayId: string | null;
  /** For the timeline: what whoever runs the browser service can do about it. */
  replayError: string | null;
}

const NO_PROCESSES =
  'Not recorded: no program runs in sessions of the browser service, and it has no recorder of its own; install ffmpeg there';
const NO_RECORDER =
  'Not recorded: no recorder starts in sessions of the browser service; install ffmpeg and Xvfb where it runs';

/**
 * Has a session of a login recorded where its connection asks for that. A recorder that fails, or a service that has none,
 * never fails a login. May run again: a recording that an earlier try has started goes on. A recorder runs inside the
 * session; where none can (no window, no ffmpeg, processes refused) the service is asked for a replay of its own.
 */
export async function recordSession(
  service: BrowserService,
  login: LoginTarget,
  sessionId: string,
  maxSeconds: number,
  signal: AbortSignal,
): Promise<RecordingResult> {
  if (login.recordSession !== true) return { replayId: null, replayError: null };
  const target = { projectId: login.projectId, sessionId };
  const inside = await nullOnFailure(signal, () => startSessionRecorder(service, target, maxSeconds, signal));
  const replayId = inside?.id ?? (await nullOnFailure(signal, () => startServiceReplay(service, target, signal)));
  const why = inside === null ? NO_PROCESSES : NO_RECORDER;
  return { replayId, replayError: replayId === null ? why : null };
}

/**
 * Keeps what was recorded inside a session that is about to end. Nothing is kept when that fails: the login is what
 * counts. May run again.
 */
export async function saveRecordings(
  { service, store }: { service: BrowserService; store: Pick<Store, 'recordings'> },
  login: LoginTarget,
  sessionId: string,
  signal: AbortSignal,
): Promise<void> {
  if (login.recordSession !== true) return;
  const target = { projectId: login.projectId, sessionId };
  await nullOnFailure(signal, async () => {
    const startedAt = new Map<string, Date | null>();
    for (const id of await recordedIn(service, target)) {
      if (!RECORDING_ID.test(id)) continue;
      // What a recorder that cannot be asked has written by now is kept.
      startedAt.set(id, await nullOnFailure(signal, () => stopRecorder(service, target, id)));
    }
    if (startedAt.size === 0) return;
    const finishedAt = new Date();
    const { organizationId, projectId, connectionId } = login;
    for (const { id, video } of await fetchRecordings(service, target)) {
      const began = startedAt.get(id);
      if (began === undefined || video.length === 0) continue;
      const recording = { id, connectionId, sessionId, startedAt: began ?? finishedAt, finishedAt, video };
      await store.recordings.keep({ organizationId, projectId }, recording);
    }
  });
}

async function startSessionRecorder(
  service: BrowserService,
  target: SessionTarget,
  maxSeconds: number,
  signal: AbortSignal,
): Promise<{ id: string | null }> {
  const begun = (await recordedIn(service, target)).find((id) => RECORDING_ID.test(id));
  if (begun !== undefined) return { id: begun };
  const id = newId('rep');
  return { id: (await startRecorder(service, target, id, maxSeconds, signal)) ? id : null };
}

async function startServiceReplay(
  service: BrowserService,
  target: SessionTarget,
  signal: AbortSignal,
): Promise<string | null> {
  const running = (await listReplays(service, target, signal)).find(({ finished_at: end }) => (end ?? null) === null);
  return (running ?? (await startReplay(service, target, signal))).replay_id;
}

async function nullOnFailure<Result>(signal: AbortSignal, action: () => Promise<Result>): Promise<Result | null> {
  try {
    return await action();
  } catch {
    signal.throwIfAborted();
    return null;
  }
}
