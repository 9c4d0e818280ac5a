import { aptInstall, canAptInstall, findOnPath, lastLine } from './command.ts';
import { withProgress } from './progress.ts';
import { SetupError } from './setup-error.ts';

/** Programs that parts of the browser service use, and the Debian package each comes in. */
const DEBIAN_PACKAGES = {
  /** The display of browsers with a window. */
  Xvfb: 'xvfb',
  /** Records replays. */
  ffmpeg: 'ffmpeg',
  /** Mount namespaces: policies of a session's own. */
  bwrap: 'bubblewrap',
  /** Mouse and keyboard of a display. */
  xdotool: 'xdotool',
} as const;

/**
 * Path of one of these programs: found on PATH, else installed by apt-get. The tests need them all; a running Holdfast goes
 * without and refuses only what needs them. Rejects with a {@link SetupError} that says how to get it.
 */
export async function findDebianTool(program: keyof typeof DEBIAN_PACKAGES): Promise<string> {
  const found = await findOnPath([program]);
  if (found !== undefined) return found;
  const name = DEBIAN_PACKAGES[program];
  let reason = 'only root on Debian can install it here';
  if (await canAptInstall()) {
    const installed = await withProgress(`Installing ${name} with apt-get`, (progress) =>
      aptInstall([name], (line) => {
        progress.note(line.slice(0, 40));
      }),
    );
    const fromDebian = await findOnPath([program]);
    if (fromDebian !== undefined) return fromDebian;
    reason = `apt-get failed (${lastLine(installed.output)})`;
  }
  throw new SetupError(`No ${program}: ${reason}. Install it (Debian: apt-get install ${name}).`);
}
