import { SetupError } from './setup/setup-error.ts';

/** Writes a line to the terminal. A closed reader (`npm start | head`) is not an error. */
export function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

process.stdout.on('error', () => undefined);
process.stderr.on('error', () => undefined);

/** Runs a command. A fault that the user can fix is one line and a non-zero exit code. */
export async function runCommand(command: () => Promise<unknown>): Promise<void> {
  try {
    await command();
  } catch (error) {
    if (!(error instanceof SetupError)) throw error;
    process.stderr.write(`holdfast: ${error.message}\n`);
    // Immediately, because other parts of setup may still be running.
    process.exit(1);
  }
}
