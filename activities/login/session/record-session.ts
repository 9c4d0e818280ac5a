import type { LoginTarget } from '../../../contract/activities.ts';
import { newId } from '../../../contract/ids.ts';
import type { Store } from '../../../store/store.ts';
import { fetchRecordings, recordedIn, startRecorder, stopRecorder } from '../../../browser-client/recorder.ts';
import type { BrowserService } from '../../../browser-client/service.ts';
import { listReplays, startReplay, type SessionTarget } from '../../../browser-client/sessions.ts';

/** Format of recording ids: other files in a session may have any name. */
const RECORDING_ID = /^rep_[a-z0-9]{25}$/;

/** The recording of a session, or why there is none; both null if none was requested. */
export interface RecordingResult {
  replayId: string | null;
  /** For the timeline: tells the operator of the browser service what to do. */
  replayError: string | null;
}

const NO_PROCESSES =
  'Not recorded: the browser service runs no programs in its sessions and has no recorder of its own; install ffmpeg there';
const NO_RECORDER =
  'Not recorded: the recorder does not start in sessions of the browser service; install ffmpeg and Xvfb where it runs';

/**
 * Records a session if its connection requests that. A recorder that fails or is missing never fails a login. Idempotent: a
 * recording started by an earlier attempt continues. The recorder runs inside the session; if it cannot (no display, no ffmpeg, no
 * processes), the service is asked for a replay.
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
  const recorder = await nullOnFailure(signal, () => startSessionRecorder(service, target, maxSeconds, signal));
  const replayId = recorder?.id ?? (await nullOnFailure(signal, () => startServiceReplay(service, target, signal)));
  if (replayId !== null) return { replayId, replayError: null };
  return { replayId, replayError: recorder === null ? NO_PROCESSES : NO_RECORDER };
}

/** Saves the recordings of a session that is about to end. Idempotent; a failure is ignored, because the login matters more. */
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
      // If a recorder cannot be stopped, what it has written so far is saved.
      startedAt.set(id, await nullOnFailure(signal, () => stopRecorder(service, target, id)));
    }
    if (startedAt.size === 0) return;
    const finishedAt = new Date();
    const { organizationId, projectId, connectionId } = login;
    for (const { id, video } of await fetchRecordings(service, target)) {
      const start = startedAt.get(id);
      if (start === undefined || video.length === 0) continue;
      const recording = { id, connectionId, sessionId, startedAt: start ?? finishedAt, finishedAt, video };
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
  const running = (await recordedIn(service, target)).find((id) => RECORDING_ID.test(id));
  if (running !== undefined) return { id: running };
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
