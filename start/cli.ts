#!/usr/bin/env node
import { isSupervised } from './supervised.ts';

/** Command -> what it runs. A role is a part of Holdfast as one process. */
const COMMANDS: Readonly<Record<string, () => Promise<unknown>>> = {
  start: () => import('./main.ts'),
  api: () => import('./roles/api.ts'),
  worker: () => import('./roles/worker.ts'),
  browser: () => (isSupervised() ? import('./roles/browser.ts') : import('./browser.ts')),
  'standalone-browser': () => import('./roles/standalone-browser.ts'),
  sandbox: () => import('./roles/sandbox.ts'),
  read: () => import('./read.ts'),
};

// Stack traces in the logs name lines of the sources.
process.setSourceMapsEnabled(true);
const [, , command = 'start'] = process.argv;
const run = COMMANDS[command];
if (run === undefined) {
  process.stderr.write(`holdfast: Unknown command '${command}'; use one of ${Object.keys(COMMANDS).join(', ')}\n`);
  process.exitCode = 1;
} else {
  process.argv.splice(2, 1);
  await run();
}
