import { execFile } from 'node:child_process';
import { access, constants } from 'node:fs/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** A Chromium program and its version. */
export interface ChromiumBinary {
  path: string;
  /** For example `156.0.8078.79`. */
  version: string;
}

/**
 * Launch scripts of distributions by the program they start. The script costs 100 ms at each start and adds flags of its
 * own; the program is the same.
 */
const PROGRAM_BEHIND_SCRIPT: Record<string, string> = { '/usr/bin/chromium': '/usr/lib/chromium/chromium' };

/** Finds the program behind `chromiumPath` and asks its version. Rejects when it cannot be run. */
export async function inspectChromium(chromiumPath: string): Promise<ChromiumBinary> {
  const behind = PROGRAM_BEHIND_SCRIPT[chromiumPath];
  const usable = behind !== undefined && (await isExecutable(behind));
  const path = usable ? behind : chromiumPath;
  const { stdout } = await run(path, ['--version'], { timeout: 20_000 });
  const version = /\d+(\.\d+){3}/.exec(stdout)?.[0];
  if (version === undefined) throw new Error(`${path} does not look like Chromium; check CHROMIUM_PATH`);
  return { path, version };
}

/** Whether there is a program at that path which this process may run. */
export async function isExecutable(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** The user agent that the same Chromium would send with a window: the version reduced as Chromium does it. */
export function windowedUserAgent(version: string): string {
  const system = process.platform === 'darwin' ? 'Macintosh; Intel Mac OS X 10_15_7' : 'X11; Linux x86_64';
  const major = version.split('.')[0] ?? version;
  return `Mozilla/5.0 (${system}) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/${major}.0.0.0 Safari/537.36`;
}
