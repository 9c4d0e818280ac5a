import { SetupError } from './setup/setup-error.ts';

/** Runs what a command does. A fault that a person can mend is one line and a non-zero exit. */
export async function runCommand(command: () => Promise<void>): Promise<void> {
  try {
    await command();
  } catch (error) {
    if (!(error instanceof SetupError)) throw error;
    process.stderr.write(`holdfast: ${error.message}\n`);
    process.exitCode = 1;
  }
}
