import { SetupError } from './setup/setup-error.ts';

/** Writes a line for the person at the terminal. A reader that went away (`npm start | head`) is no fault of ours. */
export function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

process.stdout.on('error', () => undefined);
process.stderr.on('error', () => undefined);

/** Runs what a command does. A fault that a person can mend is one line and a non-zero exit. */
export async function runCommand(command: () => Promise<unknown>): Promise<void> {
  try {
    await command();
  } catch (error) {
    if (!(error instanceof SetupError)) throw error;
    process.stderr.write(`holdfast: ${error.message}\n`);
    // At once: another part of the set-up may still be at work.
    process.exit(1);
  }
}
