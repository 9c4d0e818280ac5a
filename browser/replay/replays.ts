import { mkdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { newId } from '../../contract/ids.ts';
import { HoldfastError } from '../../contract/errors.ts';
import type { ReplayStart } from '../../contract/replays.ts';
import type { Logger } from '../logger.ts';
import { startScreencast } from '../screen/screencast.ts';
import type { Session } from '../session/session.ts';
import type { Recorder } from './ffmpeg.ts';
import { startRecorder } from './ffmpeg.ts';
import type { ReplayRecord, ReplayStore } from './replay-store.ts';

/** JPEG quality of the pictures that a recorder without a display is fed. */
const QUALITY = 70;

/** Records sessions. */
export interface Replays {
  /** Throws `operation_failed` while another recording of the session runs. */
  start(session: Session, options: ReplayStart): Promise<ReplayRecord>;
  /** Ends a recording and resolves when its video is complete; one that has ended is left as it is. */
  stop(id: string): Promise<void>;
}

interface Running {
  record: ReplayRecord;
  session: Session;
  /** Shared by all who wait for the end. */
  finish: () => Promise<void>;
}

/** With a window the display is recorded, without one the pictures that the page paints. */
export function createReplays(store: ReplayStore, logger: Logger): Replays {
  const running = new Map<string, Running>();
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
    const stopFeeding = chromium.display === null ? feed(session, recorder, options) : () => undefined;

    const close = async (): Promise<void> => {
      stopFeeding();
      session.beforeEnd.delete(entry.finish);
      running.delete(record.id);
      session.watchers.recordings -= 1;
      await store.save({ ...record, finishedAt: new Date().toISOString() });
      logger.info({ session_id: record.sessionId, replay_id: record.id }, 'replay recorded');
    };
    // It may end by itself: its time is over, its size is reached, the display or the disk is gone.
    const closed = recorder.ended.then(close);
    closed.catch(() => {
      logger.error({ session_id: record.sessionId, replay_id: record.id }, 'replay not saved');
    });
    const entry: Running = {
      record,
      session,
      finish: async () => {
        stopFeeding();
        await recorder.finish();
        await closed;
      },
    };
    running.set(record.id, entry);
    session.beforeEnd.add(entry.finish);
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
      await running.get(id)?.finish();
    },
  };
}

/** Hands the recorder the latest picture at an even pace; until the first has come, nothing. */
function feed(session: Session, recorder: Recorder, { framerate, max_duration_in_seconds }: ReplayStart): () => void {
  let latest: Buffer | null = null;
  let first: (() => void) | null = null;
  const { record, chromium } = session;
  const { width, height } = record.viewport;
  const stopPictures = startScreencast(
    chromium,
    { quality: QUALITY, maxWidth: width, maxHeight: height },
    ({ jpeg }) => {
      latest = jpeg;
      first?.();
      return Promise.resolve();
    },
  );
  const write = (): void => {
    // A recorder that is behind misses pictures instead of piling them up.
    if (latest !== null && recorder.input.writable && !recorder.input.writableNeedDrain) recorder.input.write(latest);
  };
  first = () => {
    first = null;
    write();
  };
  const pace = setInterval(write, 1000 / framerate);
  const timeIsOver = setTimeout(() => void recorder.finish(), max_duration_in_seconds * 1000);
  const stop = (): void => {
    clearInterval(pace);
    clearTimeout(timeIsOver);
    stopPictures();
  };
  void recorder.ended.then(stop);
  return stop;
}
