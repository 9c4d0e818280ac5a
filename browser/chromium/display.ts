import { spawn } from 'node:child_process';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { HoldfastError } from '../../contract/errors.ts';
import { isExecutable } from './binary.ts';

const START_TIMEOUT_MS = 10_000;
/** Space above a page for the tab strip, the address bar and an infobar, in pixels. */
const WINDOW_CHROME_HEIGHT = 200;

/** Which sessions get a window: all unless they are headless, only those that ask for one, or none. */
export type WindowPolicy = 'default' | 'on-request' | 'never';

/** The policy this machine supports: `never` if Xvfb is not installed. */
export async function supportedWindowPolicy(wanted: WindowPolicy): Promise<WindowPolicy> {
  const folders = (process.env['PATH'] ?? '').split(path.delimiter).filter((folder) => folder !== '');
  const found = await Promise.all(folders.map((folder) => isExecutable(path.join(folder, 'Xvfb'))));
  return found.includes(true) ? wanted : 'never';
}

/** A virtual display for one browser. */
interface Display {
  /** Value of DISPLAY, for example `:99`. */
  name: string;
  stderr: Readable;
  /** Resolves when the display's socket and lock file are gone. */
  stop(): Promise<void>;
}

/**
 * Starts an Xvfb large enough for the viewport (in kiosk mode barely larger), on a free display number. It exits with its
 * browser, so that a crashed service leaves none behind. Throws `operation_failed` if it cannot be started.
 */
export function startDisplay(viewport: { width: number; height: number }, kioskMode: boolean): Promise<Display> {
  // Chromium shrinks a window that is exactly as large as its screen by one pixel.
  const height = viewport.height + (kioskMode ? 1 : WINDOW_CHROME_HEIGHT);
  const size = `${String(even(viewport.width + 1))}x${String(even(height))}x24`;
  // `-r` turns off key repeat, which CDP input does not have either.
  const child = spawn('Xvfb', ['-displayfd', '3', '-screen', '0', size, '-nolisten', 'tcp', '-terminate', '-r'], {
    stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
  });
  const exited = new Promise<void>((resolve) => {
    child.once('exit', () => resolve()).once('error', () => resolve());
  });
  const stop = async (): Promise<void> => {
    child.kill('SIGTERM');
    await exited;
  };
  return new Promise((resolve, reject) => {
    const fail = (problem: string): void => {
      clearTimeout(timer);
      child.kill('SIGKILL');
      const message = `The display failed to start: ${problem}, or use \`headless: true\``;
      reject(new HoldfastError('operation_failed', message));
    };
    const timer = setTimeout(() => fail('Xvfb timed out; retry'), START_TIMEOUT_MS);
    child.once('error', () => fail('Xvfb cannot be run; reinstall it'));
    child.once('exit', () => fail('Xvfb exited; check its installation'));
    let output = '';
    (child.stdio[3] as Readable).on('data', (data: Buffer) => {
      output += data.toString();
      const number = /^(\d+)\n/.exec(output)?.[1];
      if (number === undefined) return;
      clearTimeout(timer);
      resolve({ name: `:${number}`, stderr: child.stderr as Readable, stop });
    });
  });
}

/** Rounds up to an even length, which common video formats require. */
function even(length: number): number {
  return length + (length % 2);
}
