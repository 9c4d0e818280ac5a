import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

/** Mouse and keyboard of one X display. */
export interface XInput {
  /** Runs commands of xdotool in order; resolves when the X server has handled them. Rejects when it is gone. */
  run(commands: string): Promise<void>;
  close(): void;
}

/** Starts the program that speaks to a display; it runs until it is closed, or The display has exited. */
export async function openXInput(display: string): Promise<XInput> {
  const child = spawn('xdotool', ['-'], {
    stdio: ['pipe', 'pipe', 'ignore'],
    env: { PATH: process.env['PATH'], DISPLAY: display },
  });
  const waiting: { resolve: () => void; reject: (error: Error) => void }[] = [];
  let ended = false;
  const end = (): void => {
    ended = true;
    for (const { reject } of waiting.splice(0)) reject(new Error('The display has exited'));
  };
  child.once('error', end);
  child.once('exit', end);
  // A broken pipe is told by the end of the program.
  child.stdin.on('error', () => undefined);
  // Each answer says where the pointer is: what was asked before has been handled by then.
  createInterface(child.stdout).on('line', () => waiting.shift()?.resolve());
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve);
    child.once('error', reject);
  });
  return {
    run: (commands) =>
      new Promise((resolve, reject) => {
        if (ended) {
          reject(new Error('The display has exited'));
          return;
        }
        waiting.push({ resolve, reject });
        child.stdin.write(`${commands}\ngetmouselocation\n`);
      }),
    close: () => {
      child.kill('SIGTERM');
    },
  };
}
