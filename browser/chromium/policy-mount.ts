import { execFile } from 'node:child_process';
import { mkdir, readdir, readlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { HoldfastError } from '../../contract/errors.ts';
import type { ChromePolicy } from './policy.ts';
import { managedPolicy, installedPolicies, POLICY_FOLDERS } from './policy.ts';

const run = promisify(execFile);

/** A program and its arguments. */
export interface CommandLine {
  program: string;
  args: string[];
}

/**
 * The command line that starts a Chromium under policies of its own: in a mount namespace (`bwrap`) whose /etc is the
 * host's but for the folder that Chromium reads them from. The host's own /etc is not touched, and the folder goes with
 * the user data it lies in. Throws `operation_failed` where bwrap is missing or may not make namespaces.
 */
export async function wrapWithPolicy(
  command: CommandLine,
  policy: ChromePolicy,
  userDataDir: string,
): Promise<CommandLine> {
  await assertUsable();
  const folder = path.join(userDataDir, 'Policies');
  await mkdir(path.join(folder, 'managed'), { recursive: true, mode: 0o700 });
  const merged = managedPolicy(policy, await installedPolicies());
  await writeFile(path.join(folder, 'managed', 'session.json'), JSON.stringify(merged), { mode: 0o600 });
  const mounts = [
    ...['--dev-bind', '/', '/'],
    ...['--tmpfs', '/etc'],
    ...(await mirror('/etc')),
    ...POLICY_FOLDERS.flatMap((etc) => ['--ro-bind', folder, path.join(etc, 'policies')]),
  ];
  return { program: 'bwrap', args: ['--die-with-parent', ...mounts, '--', command.program, ...command.args] };
}

/** Arguments that show a folder's entries as they are, but for policies: these are mounted in their place. */
async function mirror(folder: string): Promise<string[]> {
  const args: string[] = [];
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const place = path.join(folder, entry.name);
    if (entry.isSymbolicLink()) args.push('--symlink', await readlink(place), place);
    else if (POLICY_FOLDERS.some((etc) => place === path.join(etc, 'policies'))) continue;
    else if (POLICY_FOLDERS.some((etc) => `${etc}/`.startsWith(`${place}/`)))
      args.push('--dir', place, ...(await mirror(place)));
    else args.push('--ro-bind-try', place, place);
  }
  return args;
}

async function assertUsable(): Promise<void> {
  try {
    await run('bwrap', ['--dev-bind', '/', '/', '--tmpfs', '/etc', '/bin/true'], { timeout: 10_000 });
  } catch {
    throw new HoldfastError(
      'operation_failed',
      'chrome_policy needs bubblewrap, which is not installed or may not make namespaces here ' +
        '(apt-get install bubblewrap; containers need permission to); or leave chrome_policy out',
    );
  }
}
