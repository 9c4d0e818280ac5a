import { inspectChromium } from '../../browser/chromium/binary.ts';
import { aptInstall, canAptInstall, findOnPath } from '../../start/setup/command.ts';

const NAME = 'chromium-headless-shell';

/**
 * Path of the Chromium headless shell, installed with apt-get if possible. Null unless it has the given version, so that pages
 * look the same in both browsers.
 */
export async function findHeadlessShell(version: string): Promise<string | null> {
  let found = await findOnPath([NAME]);
  if (found === undefined && (await canAptInstall())) {
    await aptInstall([NAME], () => undefined);
    found = await findOnPath([NAME]);
  }
  if (found === undefined) return null;
  const shell = await inspectChromium(found).catch(() => null);
  return shell?.version === version ? shell.path : null;
}
