/** Writes a line for the person at the terminal. A reader that went away (`npm start | head`) is no fault of ours. */
export function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

process.stdout.on('error', () => undefined);
process.stderr.on('error', () => undefined);
