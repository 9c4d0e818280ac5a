import { execFile } from 'node:child_process';
import { mkdir, readdir, readFile, readlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { HoldfastError, invalidField } from '../../contract/errors.ts';
import { BLOCKED_URLS } from './user-data.ts';

const run = promisify(execFile);

/** Enterprise policies by name, as in Chromium's policy files. */
export type ChromePolicy = Record<string, unknown>;

/** Policy folders of Chromium, Chrome and Chrome for Testing. */
const POLICY_FOLDERS = ['/etc/chromium', '/etc/opt/chrome', '/etc/opt/chrome_for_testing'] as const;

/**
 * Policies that callers may not set: extensions, network routing (proxy, DNS, UDP), remote control, host programs, folders
 * and devices, and browser management.
 */
const RESERVED: readonly (readonly [pattern: RegExp, why: string])[] = [
  [/Extension|^IsolatedWebApp|^Plugin/, 'extensions cannot be set by policy'],
  [
    /Proxy|^Quic|^DnsOverHttps|^BuiltInDns|^WebRtc|^AdditionalDns|DirectSockets/,
    'the service controls network routing',
  ],
  [/RemoteDebugging|^RemoteAccess|^DeveloperTools|^HeadlessMode|Automation/, 'the service controls remote debugging'],
  [
    /MediaRouter|^Cast|^AccessCodeCast|^Print|^Serial|^DefaultSerial|Usb|Hid|Bluetooth/,
    'host devices are not accessible',
  ],
  [
    /Dir$|Directory$|^RoamingProfile|^UserDataSnapshot|LibraryName$|^NativeMessaging/,
    'host folders are not accessible',
  ],
  [/^BrowserSwitcher|^AlternativeBrowser|^AutoLaunch|^AutoOpen|^LegacyBrowser/, 'host programs are not accessible'],
  [
    /Sandbox|^Cloud(Management|Policy|Reporting|Extension)|^EnterpriseC|^Policy|^BrowserGuest|^BrowserAddPerson/,
    'the service manages its browsers',
  ],
];

const POLICY_NAME = /^[A-Z][A-Za-z0-9]{1,99}$/;
/** Maximum size of a session's policies, in characters of JSON. */
const MAX_POLICY_CHARACTERS = 65_536;

/** Throws `invalid_input`, naming the first policy that a session may not set. */
export function checkChromePolicy(policy: ChromePolicy): void {
  if (JSON.stringify(policy).length > MAX_POLICY_CHARACTERS) {
    throw refused('chrome_policy', `at most ${String(MAX_POLICY_CHARACTERS)} characters of JSON`);
  }
  for (const [name, value] of Object.entries(policy)) {
    const field = `chrome_policy.${name.slice(0, 100)}`;
    if (!POLICY_NAME.test(name)) throw refused(field, 'not the name of a Chrome enterprise policy');
    const why = RESERVED.find(([pattern]) => pattern.test(name))?.[1];
    if (why !== undefined) throw refused(field, `cannot be set: ${why}`);
    if (name === 'URLBlocklist' && !isTexts(value)) throw refused(field, 'must be a list of URL patterns');
    // A pattern without a scheme would allow file: and chrome: again.
    if (name === 'URLAllowlist' && !(isTexts(value) && value.every((entry) => /^https?:\/\//i.test(entry)))) {
      throw refused(field, 'must be a list of patterns that start with http:// or https://');
    }
  }
}

/** Merges a session's policies with the host's, which win, and always blocks {@link BLOCKED_URLS}. */
export function mergePolicies(policy: ChromePolicy, host: ChromePolicy): ChromePolicy {
  const lists = [BLOCKED_URLS, host['URLBlocklist'], policy['URLBlocklist']];
  return { ...policy, ...host, URLBlocklist: [...new Set(lists.filter(isTexts).flat())] };
}

/** The policies set on the host. Unreadable files are ignored, as Chromium does. */
async function readHostPolicies(): Promise<ChromePolicy> {
  const merged: ChromePolicy = {};
  for (const folder of POLICY_FOLDERS.map((etc) => path.join(etc, 'policies', 'managed'))) {
    const names = await readdir(folder).catch(() => []);
    for (const name of names.sort()) {
      const text = await readFile(path.join(folder, name), 'utf8').catch(() => '{}');
      Object.assign(merged, parseObject(text));
    }
  }
  return merged;
}

/** A program and its arguments. */
export interface CommandLine {
  program: string;
  args: string[];
}

/**
 * Wraps a command line so that Chromium runs with its own policies: in a mount namespace (`bwrap`) with the host's /etc,
 * except for the policy folders. The host's /etc is not changed. Throws `operation_failed` if bwrap is missing or cannot
 * create namespaces.
 */
export async function wrapWithPolicy(
  command: CommandLine,
  policy: ChromePolicy,
  userDataDir: string,
): Promise<CommandLine> {
  await assertUsable();
  const folder = path.join(userDataDir, 'Policies');
  await mkdir(path.join(folder, 'managed'), { recursive: true, mode: 0o700 });
  const merged = mergePolicies(policy, await readHostPolicies());
  await writeFile(path.join(folder, 'managed', 'session.json'), JSON.stringify(merged), { mode: 0o600 });
  const mounts = [
    ...['--dev-bind', '/', '/'],
    ...['--tmpfs', '/etc'],
    ...(await mirror('/etc')),
    ...POLICY_FOLDERS.flatMap((etc) => ['--ro-bind', folder, path.join(etc, 'policies')]),
  ];
  return { program: 'bwrap', args: ['--die-with-parent', ...mounts, '--', command.program, ...command.args] };
}

/** bwrap arguments that show a folder's entries unchanged, except for the policy folders, which are mounted over. */
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
      'chrome_policy: needs bubblewrap, which is not installed or cannot create namespaces; ' +
        'run `apt-get install bubblewrap` (containers need permission for namespaces), or omit chrome_policy',
    );
  }
}

function parseObject(text: string): object {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : {};
  } catch {
    return {};
  }
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((entry) => typeof entry === 'string');
}

function refused(field: string, rule: string): HoldfastError {
  return invalidField(field, rule, 'chrome_policy');
}
