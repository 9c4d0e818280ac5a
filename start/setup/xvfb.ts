import { aptInstall, canAptInstall, findOnPath, lastLine } from './command.ts';
import { withProgress } from './progress.ts';
import { SetupError } from './setup-error.ts';

/**
 * Path of Xvfb, the display of browsers with a window: found on PATH, else installed by apt-get. The tests need it; a
 * running Holdfast goes without and refuses only such browsers. Rejects with a {@link SetupError} that says how to get it.
 */
export async function findXvfb(): Promise<string> {
  const found = await findOnPath(['Xvfb']);
  if (found !== undefined) return found;
  let reason = 'only root on Debian can install it here';
  if (await canAptInstall()) {
    const installed = await withProgress('Installing Xvfb with apt-get', (progress) =>
      aptInstall(['xvfb'], (line) => {
        progress.note(line.slice(0, 40));
      }),
    );
    const fromDebian = await findOnPath(['Xvfb']);
    if (fromDebian !== undefined) return fromDebian;
    reason = `apt-get failed (${lastLine(installed.output)})`;
  }
  throw new SetupError(`No Xvfb: ${reason}. Install it (Debian: apt-get install xvfb).`);
}
