import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { expect, vi } from 'vitest';

/** `npm run browser` as a person types it. */
export interface StandaloneBrowser {
  npm: ChildProcess;
  /** All that it has printed. */
  output: () => string;
  ended: Promise<number | null>;
  /** Where it is and its key, as it prints them, when it is ready. */
  ready: () => Promise<{ baseURL: string; apiKey: string }>;
}

/** On a machine that does other things beside. */
const READY_MS = 150_000;

/** Starts it in surroundings that lead it to nobody else. */
export function runStandaloneBrowser(
  env: { HOLDFAST_PORT: string; HOLDFAST_DATA_DIR: string } & NodeJS.ProcessEnv,
): StandaloneBrowser {
  const npm = spawn('npm', ['run', 'browser'], {
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let text = '';
  for (const stream of [npm.stdout, npm.stderr]) stream.on('data', (chunk: Buffer) => (text += chunk.toString()));
  return {
    npm,
    output: () => text,
    ended: new Promise<number | null>((resolve) => npm.once('close', (code) => resolve(code))),
    ready: async () => {
      await vi.waitFor(() => expect(text).toContain('Ctrl-C stops it'), READY_MS);
      const [, apiKey = '', baseURL = ''] = /apiKey: '(\w+)', baseURL: '([^']+)'/.exec(text) ?? [];
      return { apiKey, baseURL };
    },
  };
}
