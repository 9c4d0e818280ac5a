import { spawn } from 'node:child_process';
import { open } from 'node:fs/promises';
import type { Writable } from 'node:stream';
import { HoldfastError } from '../../contract/errors.ts';

/** How long a recorder may take to finish its video, in milliseconds. */
const FINISH_TIMEOUT_MS = 10_000;
/** Maximum video size, in bytes, so that a forgotten recording does not fill the disk. */
const MAX_BYTES = 2 * 1024 * 1024 * 1024;

/** An X display, or JPEG frames written to the recorder's input. */
type FrameSource = { kind: 'display'; name: string } | { kind: 'pipe'; width: number; height: number };

/** A running ffmpeg. */
export interface Recorder {
  /** Accepts JPEG frames if the source is a pipe. */
  input: Writable;
  /** Resolves when the recorder has exited, for any reason. */
  ended: Promise<void>;
  /** Finishes the video. */
  finish(): Promise<void>;
}

interface RecorderOptions {
  source: FrameSource;
  framerate: number;
  maxSeconds: number;
  file: string;
}

/**
 * Starts ffmpeg. The video is written in fragments that are playable on their own: a killed recorder loses seconds, not the
 * video. Throws `operation_failed` if ffmpeg is not installed.
 */
export async function startRecorder({ source, framerate, maxSeconds, file }: RecorderOptions): Promise<Recorder> {
  // Created here, so that it is private from the start.
  await (await open(file, 'wx', 0o600)).close();
  const input =
    source.kind === 'display'
      ? ['-nostdin', '-f', 'x11grab', '-framerate', String(framerate), '-i', source.name]
      : ['-f', 'image2pipe', '-c:v', 'mjpeg', '-framerate', String(framerate), '-i', 'pipe:0'];
  const filter =
    source.kind === 'display'
      ? 'crop=trunc(iw/2)*2:trunc(ih/2)*2'
      : `scale=${even(source.width)}:${even(source.height)}:force_original_aspect_ratio=decrease,` +
        `pad=${even(source.width)}:${even(source.height)}:(ow-iw)/2:(oh-ih)/2`;
  const child = spawn(
    'ffmpeg',
    [
      ...['-loglevel', 'error', '-y', ...input, '-t', String(maxSeconds), '-fs', String(MAX_BYTES)],
      ...['-vf', filter, '-an', '-c:v', 'libx264', '-preset', 'ultrafast', '-crf', '28', '-pix_fmt', 'yuv420p'],
      // Flush each fragment: for a quiet page, most of the video would otherwise be buffered, and lost with a killed recorder.
      ...['-flush_packets', '1', '-g', String(framerate * 2)],
      ...['-movflags', '+frag_keyframe+empty_moov+default_base_moof', '-f', 'mp4', file],
    ],
    { stdio: [source.kind === 'pipe' ? 'pipe' : 'ignore', 'ignore', 'ignore'], env: { PATH: process.env['PATH'] } },
  );
  const ended = new Promise<void>((resolve) => {
    child.once('exit', () => resolve()).once('error', () => resolve());
  });
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve);
    child.once('error', () => {
      reject(
        new HoldfastError(
          'operation_failed',
          'Replays need ffmpeg, which is not installed; run `apt-get install ffmpeg`',
        ),
      );
    });
  });
  // The pipe breaks when the recorder exits; `ended` reports that.
  child.stdin?.on('error', () => undefined);
  return {
    input: child.stdin ?? process.stdout,
    ended,
    finish: async () => {
      if (source.kind === 'pipe') child.stdin?.end();
      else child.kill('SIGINT');
      const kill = setTimeout(() => child.kill('SIGKILL'), FINISH_TIMEOUT_MS);
      await ended;
      clearTimeout(kill);
    },
  };
}

/** Rounds down to an even length, which the codec requires. */
function even(pixels: number): string {
  return String(Math.max(2, pixels - (pixels % 2)));
}
