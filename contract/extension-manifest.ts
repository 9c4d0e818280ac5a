import { z } from 'zod';
import { HoldfastError } from './errors.ts';

/**
 * What a manifest may hold. All else is refused by name: Chrome apps (with sockets), shared modules, native programs,
 * devices.
 */
const KEYS: ReadonlySet<string> = new Set([
  ...['manifest_version', 'name', 'short_name', 'version', 'version_name', 'description', 'author', 'homepage_url'],
  ...['icons', 'action', 'background', 'content_scripts', 'content_security_policy', 'web_accessible_resources'],
  ...['permissions', 'optional_permissions', 'host_permissions', 'optional_host_permissions', 'default_locale'],
  ...['commands', 'omnibox', 'options_page', 'options_ui', 'side_panel', 'incognito', 'minimum_chrome_version'],
  ...['declarative_net_request', 'storage', 'externally_connectable', 'offline_enabled', 'chrome_url_overrides'],
  ...['cross_origin_embedder_policy', 'cross_origin_opener_policy', 'browser_specific_settings', 'trial_tokens'],
]);
/** Where the manifest of an extension is in its archive. */
export const MANIFEST = 'manifest.json';

/** Left out of what the browser reads: a key would give the extension the id, and the rights, of another one. */
const DROPPED: ReadonlySet<string> = new Set(['key', 'update_url', 'differential_fingerprint']);
/**
 * Rights that an extension may ask for. Not among them, because they lead out of the session: `proxy` and `privacy` (past
 * the guarded way out), `nativeMessaging`, `management`, devices and files.
 */
const PERMISSIONS: ReadonlySet<string> = new Set([
  ...['activeTab', 'alarms', 'bookmarks', 'browsingData', 'clipboardRead', 'clipboardWrite', 'contextMenus', 'cookies'],
  ...['declarativeContent', 'declarativeNetRequest', 'declarativeNetRequestFeedback', 'favicon', 'history', 'idle'],
  ...['declarativeNetRequestWithHostAccess', 'notifications', 'offscreen', 'readingList', 'scripting', 'search'],
  ...['sessions', 'sidePanel', 'storage', 'tabGroups', 'tabs', 'topSites', 'unlimitedStorage', 'webNavigation'],
  ...['webRequest', 'webRequestAuthProvider', 'webRequestBlocking'],
]);
/**
 * Left out of what the browser reads: it leads past the checks of the CDP connection, and an unpacked extension may read files
 * by it. Its worker gets the one harmless part of it instead. Asked for at run time, it would be missed then: that is refused.
 */
const DEBUGGER = 'debugger';
/** The browser lets an unpacked extension read files, too, where `<all_urls>` says so: every site is meant by this. */
const EVERY_SITE = '*://*/*';

const Texts = z.array(z.string()).optional();
const Manifest = z.looseObject({
  manifest_version: z.literal(3, 'must be 3'),
  permissions: Texts,
  optional_permissions: Texts,
  host_permissions: Texts,
  optional_host_permissions: Texts,
  content_scripts: z.array(z.looseObject({ matches: Texts })).optional(),
});

/** A manifest that was judged. */
export interface JudgedManifest {
  /** The one that the browser is to read instead. */
  text: string;
  /** It asks for the permission `debugger`, which {@link JudgedManifest.text} leaves out. */
  asksForDebugger: boolean;
}

/**
 * Judges the manifest of an extension. Throws `invalid_request` naming what keeps the extension out; `subject` is what the
 * caller calls the manifest, its field first.
 */
export function judgeManifest(text: string, subject: string): JudgedManifest {
  const refuse = (why: string): HoldfastError => new HoldfastError('invalid_request', `${subject}: ${why}`);
  const parsed = Manifest.safeParse(jsonOf(text));
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw refuse(`${issue?.path.join('.') ?? ''} ${issue?.message ?? 'is invalid'}`.trim());
  }
  const manifest = parsed.data;
  const unknown = Object.keys(manifest).find((key) => !KEYS.has(key) && !DROPPED.has(key));
  if (unknown !== undefined) throw refuse(`${unknown.slice(0, 100)} is not for extensions of a session`);
  const permissions = manifest.permissions?.filter((permission) => permission !== DEBUGGER);
  for (const permission of [...(permissions ?? []), ...(manifest.optional_permissions ?? [])]) {
    if (PERMISSIONS.has(permission)) continue;
    throw refuse(`the permission ${permission.slice(0, 100)} is not given to extensions of a session`);
  }
  const sites = (patterns: string[] | undefined): string[] | undefined =>
    patterns?.map((pattern) => {
      if (pattern === '<all_urls>') return EVERY_SITE;
      if (/^(?:\*|https?|wss?):\/\//.test(pattern)) return pattern;
      throw refuse(`the pattern ${pattern.slice(0, 100)} is refused: only http and https sites may be named`);
    });
  const kept = Object.entries(manifest).filter(([key]) => !DROPPED.has(key));
  const judged = JSON.stringify({
    ...Object.fromEntries(kept),
    ...defined('permissions', permissions),
    ...defined('host_permissions', sites(manifest.host_permissions)),
    ...defined('optional_host_permissions', sites(manifest.optional_host_permissions)),
    ...defined(
      'content_scripts',
      manifest.content_scripts?.map((script) => ({ ...script, ...defined('matches', sites(script.matches)) })),
    ),
  });
  return { text: judged, asksForDebugger: permissions?.length !== manifest.permissions?.length };
}

function defined(key: string, value: unknown): Record<string, unknown> {
  return value === undefined ? {} : { [key]: value };
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch {
    return undefined;
  }
}
