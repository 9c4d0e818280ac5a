import { spawn } from 'node:child_process';
import { open } from 'node:fs/promises';
import type { Writable } from 'node:stream';
import { HoldfastError } from '../../contract/errors.ts';

/** Longest wait for the end of a video after the recorder was asked to finish it, in milliseconds. */
const FINISH_TIMEOUT_MS = 10_000;
/** Largest video, in bytes: a disk is not filled by one that was forgotten. */
const MAX_BYTES = 2 * 1024 * 1024 * 1024;

/** Where the pictures come from: an X display, or JPEGs that are written to its input. */
export type PictureSource = { kind: 'display'; name: string } | { kind: 'pipe'; width: number; height: number };

/** A running recorder. */
export interface Recorder {
  /** Takes JPEGs when the source is a pipe. */
  input: Writable;
  /** Resolves when the video is complete, whoever ended it. */
  ended: Promise<void>;
  /** Asks for the end of the video and waits for it. */
  finish(): Promise<void>;
}

/** What is recorded, and into which file. */
export interface RecorderOptions {
  source: PictureSource;
  framerate: number;
  maxSeconds: number;
  file: string;
}

/**
 * Starts ffmpeg. The video is written in pieces that can be played as they are: a recorder that is killed loses seconds,
 * not the video. Throws `operation_failed` where ffmpeg is not installed.
 */
export async function startRecorder({ source, framerate, maxSeconds, file }: RecorderOptions): Promise<Recorder> {
  // Made here, so that nobody else can read it from its first byte on.
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
      // Each part is in the file when it is whole: a quiet page would leave most of it to be lost with the recorder.
      ...['-flush_packets', '1', '-g', String(framerate * 2)],
      ...['-movflags', '+frag_keyframe+empty_moov+default_base_moof', '-f', 'mp4', file],
    ],
    { stdio: [source.kind === 'pipe' ? 'pipe' : 'ignore', 'ignore', 'ignore'], env: { PATH: process.env['PATH'] } },
  );
  const ended = new Promise<void>((resolve) => {
    child.once('exit', () => {
      resolve();
    });
    child.once('error', () => {
      resolve();
    });
  });
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve);
    child.once('error', () => {
      reject(
        new HoldfastError(
          'operation_failed',
          'Replays need ffmpeg, which is not installed here (apt-get install ffmpeg)',
        ),
      );
    });
  });
  // The pipe breaks when the recorder ends by itself; `ended` tells.
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

/** The codec takes even sizes only. */
function even(pixels: number): string {
  return String(Math.max(2, pixels - (pixels % 2)));
}
