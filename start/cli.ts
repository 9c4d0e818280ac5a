#!/usr/bin/env node
import { isSupervised } from './supervision.ts';
import { runCommand } from './terminal.ts';

/** The commands. A role is a part of Holdfast that runs as one process. */
const COMMANDS: Readonly<Record<string, () => Promise<unknown>>> = {
  start: async () => (await import('./main.ts')).startHoldfast(),
  api: () => import('./roles/api.ts'),
  worker: () => import('./roles/worker.ts'),
  browser: async () =>
    isSupervised() ? (await import('./roles/browser.ts')).runBrowser() : (await import('./main.ts')).startBrowser(),
  'standalone-browser': async () => (await import('./roles/browser.ts')).runStandaloneBrowser(),
  codec: () => import('./roles/codec.ts'),
  sandbox: () => import('./roles/sandbox.ts'),
  read: () => import('./read.ts'),
  keys: async () => (await import('./admin-commands.ts')).rotateKeys(),
  'sign-in': async () => (await import('./admin-commands.ts')).printSignInLink(),
  audit: async () => (await import('./admin-commands.ts')).verifyAudit(),
};

// Stack traces in the logs refer to source lines.
process.setSourceMapsEnabled(true);
const [, , command = 'start'] = process.argv;
const run = COMMANDS[command];
if (run === undefined) {
  process.stderr.write(`holdfast: Unknown command '${command}'; use one of ${Object.keys(COMMANDS).join(', ')}\n`);
  process.exitCode = 1;
} else {
  process.argv.splice(2, 1);
  await runCommand(run);
}
