import { spawn } from 'node:child_process';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { HoldfastError } from '../../contract/errors.ts';
import { isExecutable } from './binary.ts';

/** Longest a display may take to start, in milliseconds. */
const START_TIMEOUT_MS = 10_000;
/** Room above a page for the tab strip, the address bar and a bar of warnings, in pixels. */
const WINDOW_CHROME_HEIGHT = 200;

/** Which sessions get a window: those that do not say otherwise, those that ask for one, or none. */
export type WindowPolicy = 'default' | 'on-request' | 'never';

/** The policy that this machine can keep: without Xvfb there are no windows. */
export async function possibleWindows(wanted: WindowPolicy): Promise<WindowPolicy> {
  const folders = (process.env['PATH'] ?? '').split(path.delimiter).filter((folder) => folder !== '');
  const found = await Promise.all(folders.map((folder) => isExecutable(path.join(folder, 'Xvfb'))));
  return found.includes(true) ? wanted : 'never';
}

/** A screen that nobody sees, for one browser with a window. */
export interface Display {
  /** Value of DISPLAY, for example `:99`. */
  name: string;
  /** What it says; nothing is lost before somebody listens. */
  said: Readable;
  /** Ends it; resolves when its socket and lock file are gone. */
  stop(): Promise<void>;
}

/**
 * Starts an Xvfb large enough for a page of that size (in kiosk mode hardly larger), on a free display number. It ends by itself when its
 * browser does, so that a service which dies leaves none behind. Throws `operation_failed` where it cannot be started.
 */
export function startDisplay(viewport: { width: number; height: number }, kioskMode: boolean): Promise<Display> {
  // A window exactly as large as its screen is made one pixel smaller by Chromium; it stays as it is on a larger one.
  const height = viewport.height + (kioskMode ? 1 : WINDOW_CHROME_HEIGHT);
  const size = `${String(even(viewport.width + 1))}x${String(even(height))}x24`;
  // `-r`: a key that is held is no repeated one, as through the protocol.
  const child = spawn('Xvfb', ['-displayfd', '3', '-screen', '0', size, '-nolisten', 'tcp', '-terminate', '-r'], {
    stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
  });
  const exited = new Promise<void>((resolve) => {
    child.once('exit', () => {
      resolve();
    });
    child.once('error', () => {
      resolve();
    });
  });
  const stop = async (): Promise<void> => {
    child.kill('SIGTERM');
    await exited;
  };
  return new Promise((resolve, reject) => {
    const fail = (message: string): void => {
      clearTimeout(timer);
      child.kill('SIGKILL');
      reject(new HoldfastError('operation_failed', message));
    };
    const timer = setTimeout(() => {
      fail('The display did not start in time; retry, or use `headless: true`');
    }, START_TIMEOUT_MS);
    child.once('error', () => {
      fail('The display could not be started: Xvfb cannot be run; reinstall it, or use `headless: true`');
    });
    child.once('exit', () => {
      fail('The display could not be started: Xvfb ended; check its installation, or use `headless: true`');
    });
    let said = '';
    (child.stdio[3] as Readable).on('data', (data: Buffer) => {
      said += data.toString();
      const number = /^(\d+)\n/.exec(said)?.[1];
      if (number === undefined) return;
      clearTimeout(timer);
      resolve({ name: `:${number}`, said: child.stderr as Readable, stop });
    });
  });
}

/** Video of the usual formats has even sides only. */
function even(length: number): number {
  return length + (length % 2);
}
