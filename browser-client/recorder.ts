import { fromBufferPromise } from 'yauzl';
import { z } from 'zod';
import { downloadFolder, listFiles, readFile, writeFile } from './files.ts';
import { isRunning, killProcess, spawnProcess } from './process.ts';
import { readWhole } from './answers.ts';
import { invalidResponse } from './errors.ts';
import type { BrowserService } from './service.ts';
import type { SessionTarget } from './sessions.ts';

/** Folder in the session for videos, each with a note that identifies its recorder. */
const FOLDER = '/tmp/recording';
const VIDEO = '.mp4';
const NOTE = '.json';
const Note = z.object({ process_id: z.string(), started_at: z.iso.datetime() });
/** Frames per second; logins are slow. */
const FRAMERATE = 5;
/** Largest video, in bytes; ffmpeg stops there. */
const MAX_VIDEO_BYTES = 48 * 1024 * 1024;
/** How long a recorder may take to start, and to finish its video, in milliseconds; many seconds on a busy machine. */
const START_TIMEOUT_MS = 20_000;
const STOP_TIMEOUT_MS = 20_000;
const POLL_MS = 100;
const MAX_NOTE_BYTES = 1024;

/**
 * Records the session's display; `$0` is the video file, `$1` the seconds. The video is fragmented, so that a killed recorder
 * loses seconds only. Display :1 is the usual default.
 */
const RECORD = [
  'mkdir -p "${0%/*}" && exec ffmpeg -nostdin -loglevel error -f x11grab -framerate',
  `${String(FRAMERATE)} -i "\${DISPLAY:-:1}" -t "$1" -fs ${String(MAX_VIDEO_BYTES - 1024 * 1024)}`,
  "-vf 'crop=trunc(iw/2)*2:trunc(ih/2)*2' -an -c:v libx264 -preset ultrafast -crf 28 -pix_fmt yuv420p",
  `-g ${String(2 * FRAMERATE)} -movflags +frag_keyframe+empty_moov+default_base_moof -f mp4 -n "$0"`,
].join(' ');

/** A video downloaded from its session. */
interface FetchedRecording {
  id: string;
  video: Buffer;
}

/** Starts a recorder in a session with a window (`process/spawn`). False without ffmpeg or a display. */
export async function startRecorder(
  service: BrowserService,
  target: SessionTarget,
  id: string,
  maxSeconds: number,
  signal: AbortSignal,
): Promise<boolean> {
  const file = `${FOLDER}/${id}${VIDEO}`;
  const startedAt = new Date();
  const args = ['-c', RECORD, file, String(maxSeconds)];
  const { processId } = await spawnProcess(service, target, { command: 'sh', args, timeout_sec: maxSeconds + 60 });
  for (const end = Date.now() + START_TIMEOUT_MS; Date.now() < end;) {
    signal.throwIfAborted();
    if ((await recordedIn(service, target)).includes(id)) {
      const note: z.infer<typeof Note> = { process_id: processId, started_at: startedAt.toISOString() };
      await writeFile(service, target, `${FOLDER}/${id}${NOTE}`, Buffer.from(JSON.stringify(note)));
      return true;
    }
    if (!(await isRunning(service, target, processId))) return false;
    await pause();
  }
  await killProcess(service, target, processId, 'KILL');
  return false;
}

/** Ids of the videos in a session, finished or not (`fs/list_files`). */
export async function recordedIn(service: BrowserService, target: SessionTarget): Promise<string[]> {
  const names = ((await listFiles(service, target, FOLDER)) ?? []).map(({ name }) => name);
  return names.filter((name) => name.endsWith(VIDEO)).map((name) => name.slice(0, -VIDEO.length));
}

/**
 * Interrupts a recorder, waits for it to finish its video and returns when it was started. A recorder that hangs is left alone:
 * its video is playable. Null if its process is unknown.
 */
export async function stopRecorder(service: BrowserService, target: SessionTarget, id: string): Promise<Date | null> {
  const note = await readNote(service, target, id);
  if (note === null) return null;
  const { process_id: processId, started_at: startedAt } = note;
  const hasEnded = async (): Promise<boolean> => !(await isRunning(service, target, processId));
  if (!(await killProcess(service, target, processId, 'INT'))) return new Date(startedAt);
  for (const end = Date.now() + STOP_TIMEOUT_MS; Date.now() < end && !(await hasEnded());) await pause();
  return new Date(startedAt);
}

/** Null if the worker died between starting the recorder and writing its note. */
async function readNote(service: BrowserService, target: SessionTarget, id: string) {
  try {
    const text = await readWhole(await readFile(service, target, `${FOLDER}/${id}${NOTE}`), MAX_NOTE_BYTES);
    return Note.parse(JSON.parse(text.toString()));
  } catch {
    return null;
  }
}

/** Downloads the videos of a session (`fs/download_dir_zip`). */
export async function fetchRecordings(service: BrowserService, target: SessionTarget): Promise<FetchedRecording[]> {
  const archive = await readWhole(await downloadFolder(service, target, FOLDER), 2 * MAX_VIDEO_BYTES);
  const fetched: FetchedRecording[] = [];
  try {
    const zip = await fromBufferPromise(archive, { lazyEntries: true });
    for await (const entry of zip.eachEntry()) {
      const name = entry.fileName.split('/').at(-1) ?? '';
      if (!name.endsWith(VIDEO) || entry.uncompressedSize > MAX_VIDEO_BYTES) continue;
      const video = await readWhole(await zip.openReadStreamPromise(entry), MAX_VIDEO_BYTES);
      fetched.push({ id: name.slice(0, -VIDEO.length), video });
    }
  } catch {
    throw invalidResponse('The browser service did not send a valid ZIP archive');
  }
  return fetched;
}

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, POLL_MS));
}
