import { mkdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { newId } from '../../contract/ids.ts';
import { HoldfastError } from '../../contract/errors.ts';
import type { ReplayStart } from '../../contract/replays.ts';
import type { Logger } from '../logger.ts';
import { startScreencast } from '../screen/screencast.ts';
import type { Session } from '../session/session.ts';
import { startRecorder, type Recorder } from './ffmpeg.ts';
import type { ReplayRecord, ReplayStore } from './replay-store.ts';

/** JPEG quality of frames when recording without a display. */
const QUALITY = 70;

/** Records sessions to video. */
export interface Replays {
  /** Throws `operation_failed` if the session is already being recorded. */
  start(session: Session, options: ReplayStart): Promise<ReplayRecord>;
  /** Ends a recording and resolves when its video is complete; does nothing if it has ended already. */
  stop(id: string): Promise<void>;
}

/** Records the display of a session with a window, else the frames its active page paints. */
export function createReplays(store: ReplayStore, logger: Logger): Replays {
  /** By replay id: ends the recording. */
  const running = new Map<string, () => Promise<void>>();
  const starting = new Set<Session>();

  const start = async (session: Session, options: ReplayStart): Promise<ReplayRecord> => {
    const { chromium } = session;
    const record: ReplayRecord = {
      id: newId('rep'),
      sessionId: session.record.id,
      projectId: session.record.projectId,
      startedAt: new Date().toISOString(),
      finishedAt: null,
    };
    const file = store.videoPath(record.id);
    await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
    const recorder = await startRecorder({
      source:
        chromium.display === null
          ? { kind: 'pipe', ...session.record.viewport }
          : { kind: 'display', name: chromium.display },
      framerate: options.framerate,
      maxSeconds: options.max_duration_in_seconds,
      file,
    }).catch(async (error: unknown) => {
      await rm(file, { force: true });
      throw error;
    });
    await store.save(record);
    session.watchers.recordings += 1;
    const stopFeeding = chromium.display === null ? feedFrames(session, recorder, options) : () => undefined;

    const close = async (): Promise<void> => {
      stopFeeding();
      session.beforeEnd.delete(finish);
      running.delete(record.id);
      session.watchers.recordings -= 1;
      await store.save({ ...record, finishedAt: new Date().toISOString() });
      logger.info({ session_id: record.sessionId, replay_id: record.id }, 'replay recorded');
    };
    // It may end by itself: maximum duration or size reached, display gone, disk full.
    const closed = recorder.ended.then(close);
    closed.catch(() => {
      logger.error({ session_id: record.sessionId, replay_id: record.id }, 'replay not saved');
    });
    const finish = async (): Promise<void> => {
      stopFeeding();
      await recorder.finish();
      await closed;
    };
    running.set(record.id, finish);
    session.beforeEnd.add(finish);
    return record;
  };

  return {
    start: async (session, options) => {
      if (starting.has(session) || session.watchers.recordings > 0) {
        throw new HoldfastError(
          'operation_failed',
          'This session is already being recorded; stop that recording first',
        );
      }
      starting.add(session);
      try {
        return await start(session, options);
      } finally {
        starting.delete(session);
      }
    },
    stop: async (id) => {
      await running.get(id)?.();
    },
  };
}

/** Writes the latest frame to the recorder at its frame rate, once there is one. */
function feedFrames(
  session: Session,
  recorder: Recorder,
  { framerate, max_duration_in_seconds }: ReplayStart,
): () => void {
  let latest: Buffer | null = null;
  const write = (): void => {
    // A recorder that is behind skips frames instead of buffering them.
    if (latest !== null && recorder.input.writable && !recorder.input.writableNeedDrain) recorder.input.write(latest);
  };
  const { width, height } = session.record.viewport;
  const options = { quality: QUALITY, maxWidth: width, maxHeight: height };
  const stopScreencast = startScreencast(session.chromium, options, ({ jpeg }) => {
    const isFirst = latest === null;
    latest = jpeg;
    if (isFirst) write();
    return Promise.resolve();
  });
  const interval = setInterval(write, 1000 / framerate);
  const timeout = setTimeout(() => void recorder.finish(), max_duration_in_seconds * 1000);
  const stop = (): void => {
    clearInterval(interval);
    clearTimeout(timeout);
    stopScreencast();
  };
  void recorder.ended.then(stop);
  return stop;
}
