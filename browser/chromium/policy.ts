import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { invalidField, type HoldfastError } from '../../contract/errors.ts';
import { BLOCKED_URLS } from './user-data.ts';

/** Enterprise policies by name, as Chromium's policy files hold them. */
export type ChromePolicy = Record<string, unknown>;

/** Folders that builds of Chromium read policies from: its own, Chrome's and Chrome for Testing's. */
export const POLICY_FOLDERS = ['/etc/chromium', '/etc/opt/chrome', '/etc/opt/chrome_for_testing'] as const;

/**
 * Policies that are not the caller's: extensions, the way out (proxy, names, UDP), remote control, programs, folders and
 * devices of the host, and who manages the browser. `HostPolicy.test` of a name, upper case first as Chromium spells them.
 */
const RESERVED: readonly (readonly [pattern: RegExp, why: string])[] = [
  [/Extension|^IsolatedWebApp|^Plugin/, 'extensions are not set by policy'],
  [/Proxy|^Quic|^DnsOverHttps|^BuiltInDns|^WebRtc|^AdditionalDns|DirectSockets/, 'the way out belongs to the service'],
  [/RemoteDebugging|^RemoteAccess|^DeveloperTools|^HeadlessMode|Automation/, 'remote control belongs to the service'],
  [/MediaRouter|^Cast|^AccessCodeCast|^Print|^Serial|^DefaultSerial|Usb|Hid|Bluetooth/, 'devices of the host stay out'],
  [/Dir$|Directory$|^RoamingProfile|^UserDataSnapshot|LibraryName$|^NativeMessaging/, 'folders of the host stay out'],
  [/^BrowserSwitcher|^AlternativeBrowser|^AutoLaunch|^AutoOpen|^LegacyBrowser/, 'programs of the host stay out'],
  [
    /Sandbox|^Cloud(Management|Policy|Reporting|Extension)|^EnterpriseC|^Policy|^BrowserGuest|^BrowserAddPerson/,
    'the service manages its browsers',
  ],
];

/** Names of policies are letters and digits; anything else is no policy. */
const POLICY_NAME = /^[A-Z][A-Za-z0-9]{1,99}$/;
/** Bound of all policies of a session, as JSON, in characters. */
const MAX_POLICY_CHARACTERS = 65_536;

/** Throws `invalid_input` naming the first policy that a session may not set. */
export function checkChromePolicy(policy: ChromePolicy): void {
  if (JSON.stringify(policy).length > MAX_POLICY_CHARACTERS) {
    throw refused('chrome_policy', `at most ${String(MAX_POLICY_CHARACTERS)} characters of JSON`);
  }
  for (const [name, value] of Object.entries(policy)) {
    const field = `chrome_policy.${name.slice(0, 100)}`;
    if (!POLICY_NAME.test(name)) throw refused(field, 'not the name of a Chrome enterprise policy');
    const why = RESERVED.find(([pattern]) => pattern.test(name))?.[1];
    if (why !== undefined) throw refused(field, `may not be set: ${why}`);
    if (name === 'URLBlocklist' && !isTexts(value)) throw refused(field, 'must be a list of URL patterns');
    // A pattern without a scheme would open file: and chrome: again; those stay shut.
    if (name === 'URLAllowlist' && !(isTexts(value) && value.every((entry) => /^https?:\/\//i.test(entry)))) {
      throw refused(field, 'must be a list of patterns that start with http:// or https://');
    }
  }
}

/**
 * What a browser is given: the caller's policies, those of the machine's operator over them, and the addresses that no
 * session may open beside any that are blocked.
 */
export function managedPolicy(policy: ChromePolicy, operators: ChromePolicy): ChromePolicy {
  const lists = [BLOCKED_URLS, operators['URLBlocklist'], policy['URLBlocklist']];
  return { ...policy, ...operators, URLBlocklist: [...new Set(lists.filter(isTexts).flat())] };
}

/** The policies that the machine's operator has set. Files that cannot be read count as absent, as Chromium has it. */
export async function installedPolicies(): Promise<ChromePolicy> {
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
