import { inspectChromium } from '../../browser/chromium/binary.ts';
import { aptInstall, canAptInstall, findOnPath } from '../../start/setup/command.ts';

const NAME = 'chromium-headless-shell';

/**
 * Path of the Chromium that has no windows at all, installed by apt-get where it can be; null where there is none of the
 * `version` that is asked for: pages are to look alike.
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
