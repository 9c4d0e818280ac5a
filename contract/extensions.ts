import { z } from 'zod';
import { HoldfastError } from './errors.ts';

/** Largest archive of one extension, in bytes: kept, or loaded into a running session. */
export const MAX_EXTENSION_BYTES = 64 * 1024 * 1024;

/** A stored extension; `checksum` is the SHA-256 of its ZIP archive, in hex. */
export const Extension = z.strictObject({
  id: z.string(),
  name: z.string().nullable(),
  size_bytes: z.int(),
  checksum: z.string(),
  created_at: z.string(),
  last_used_at: z.string().nullable(),
});
export type Extension = z.infer<typeof Extension>;

/** Supported manifest members. Others (Chrome apps, shared modules, native programs, devices) are rejected by name. */
const KEYS: ReadonlySet<string> = new Set([
  ...['manifest_version', 'name', 'short_name', 'version', 'version_name', 'description', 'author', 'homepage_url'],
  ...['icons', 'action', 'background', 'content_scripts', 'content_security_policy', 'web_accessible_resources'],
  ...['permissions', 'optional_permissions', 'host_permissions', 'optional_host_permissions', 'default_locale'],
  ...['commands', 'omnibox', 'options_page', 'options_ui', 'side_panel', 'incognito', 'minimum_chrome_version'],
  ...['declarative_net_request', 'storage', 'externally_connectable', 'offline_enabled', 'chrome_url_overrides'],
  ...['cross_origin_embedder_policy', 'cross_origin_opener_policy', 'browser_specific_settings', 'trial_tokens'],
]);
/** Path of the manifest in an extension's archive. */
export const MANIFEST = 'manifest.json';

/** Members removed from the manifest: a key would give the extension the id, and the permissions, of another one. */
const REMOVED: ReadonlySet<string> = new Set(['key', 'update_url', 'differential_fingerprint']);
/** Permissions that stay within the session: not `proxy`, `privacy`, `nativeMessaging`, `management`, devices or files. */
const PERMISSIONS: ReadonlySet<string> = new Set([
  ...['activeTab', 'alarms', 'bookmarks', 'browsingData', 'clipboardRead', 'clipboardWrite', 'contextMenus', 'cookies'],
  ...['declarativeContent', 'declarativeNetRequest', 'declarativeNetRequestFeedback', 'favicon', 'history', 'idle'],
  ...['declarativeNetRequestWithHostAccess', 'notifications', 'offscreen', 'readingList', 'scripting', 'search'],
  ...['sessions', 'sidePanel', 'storage', 'tabGroups', 'tabs', 'topSites', 'unlimitedStorage', 'webNavigation'],
  ...['webRequest', 'webRequestAuthProvider', 'webRequestBlocking'],
]);
/** Removed: it bypasses the checks of the CDP connection. The worker gets a harmless part of it instead. */
const DEBUGGER = 'debugger';
/** Replaces `<all_urls>`, which lets an unpacked extension read files too. */
const ALL_SITES = '*://*/*';

const Texts = z.array(z.string()).optional();
const Manifest = z.looseObject({
  manifest_version: z.literal(3, 'must be 3'),
  permissions: Texts,
  optional_permissions: Texts,
  host_permissions: Texts,
  optional_host_permissions: Texts,
  content_scripts: z.array(z.looseObject({ matches: Texts })).optional(),
});

/** The result of {@link sanitizeManifest}. */
interface SanitizedManifest {
  /** The manifest for the browser. */
  text: string;
  /** It requests the permission `debugger`, which was removed. */
  asksForDebugger: boolean;
}

/** Sanitizes an extension's manifest. Throws `invalid_request` with a message that starts with `subject`. */
export function sanitizeManifest(text: string, subject: string): SanitizedManifest {
  const reject = (reason: string): HoldfastError => new HoldfastError('invalid_request', `${subject}: ${reason}`);
  const parsed = Manifest.safeParse(parseJson(text));
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw reject(`${issue?.path.join('.') ?? ''} ${issue?.message ?? 'is invalid'}`.trim());
  }
  const manifest = parsed.data;
  const unknown = Object.keys(manifest).find((key) => !KEYS.has(key) && !REMOVED.has(key));
  if (unknown !== undefined) throw reject(`${unknown.slice(0, 100)} is not supported`);
  const permissions = manifest.permissions?.filter((permission) => permission !== DEBUGGER);
  for (const permission of [...(permissions ?? []), ...(manifest.optional_permissions ?? [])]) {
    if (PERMISSIONS.has(permission)) continue;
    throw reject(`the permission ${permission.slice(0, 100)} is not allowed`);
  }
  const sites = (patterns: string[] | undefined): string[] | undefined =>
    patterns?.map((pattern) => {
      if (pattern === '<all_urls>') return ALL_SITES;
      if (/^(?:\*|https?|wss?):\/\//.test(pattern)) return pattern;
      throw reject(`the pattern ${pattern.slice(0, 100)} is not allowed; use http and https patterns only`);
    });
  const kept = Object.entries(manifest).filter(([key]) => !REMOVED.has(key));
  const sanitized = JSON.stringify({
    ...Object.fromEntries(kept),
    ...defined('permissions', permissions),
    ...defined('host_permissions', sites(manifest.host_permissions)),
    ...defined('optional_host_permissions', sites(manifest.optional_host_permissions)),
    ...defined(
      'content_scripts',
      manifest.content_scripts?.map((script) => ({ ...script, ...defined('matches', sites(script.matches)) })),
    ),
  });
  return { text: sanitized, asksForDebugger: permissions?.length !== manifest.permissions?.length };
}

function defined(key: string, value: unknown): Record<string, unknown> {
  return value === undefined ? {} : { [key]: value };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch {
    return undefined;
  }
}
