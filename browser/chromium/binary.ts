import { execFile } from 'node:child_process';
import { access, constants } from 'node:fs/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** A Chromium executable and its version. */
export interface ChromiumBinary {
  path: string;
  /** For example `156.0.8078.79`. */
  version: string;
}

/** Executables behind the launch scripts of distributions. The script costs 100 ms per start and adds its own flags. */
const LAUNCH_SCRIPT_TARGETS: Record<string, string> = { '/usr/bin/chromium': '/usr/lib/chromium/chromium' };

/** Finds the executable behind `chromiumPath` and its version. Rejects if it cannot be run. */
export async function inspectChromium(chromiumPath: string): Promise<ChromiumBinary> {
  const target = LAUNCH_SCRIPT_TARGETS[chromiumPath];
  const path = target !== undefined && (await isExecutable(target)) ? target : chromiumPath;
  const { stdout } = await run(path, ['--version'], { timeout: 20_000 });
  const version = /\d+(\.\d+){3}/.exec(stdout)?.[0];
  if (version === undefined) throw new Error(`${path} does not look like Chromium; check CHROMIUM_PATH`);
  return { path, version };
}

/** Whether `path` is a file this process may execute. */
export async function isExecutable(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** The user agent this Chromium version sends when it is not headless (with Chromium's reduced version number). */
export function headfulUserAgent(version: string): string {
  const system = process.platform === 'darwin' ? 'Macintosh; Intel Mac OS X 10_15_7' : 'X11; Linux x86_64';
  const major = version.split('.')[0] ?? version;
  return `Mozilla/5.0 (${system}) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/${major}.0.0.0 Safari/537.36`;
}
