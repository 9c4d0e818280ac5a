import { z } from 'zod';
import { MAX_PASSKEYS, Passkey, Passkeys } from '../contract/passkeys.ts';
import { parseJson } from './request.ts';
import { SecretStoreError, type ItemSecrets } from './secret-store.ts';

/** Field names of free-form items by meaning, in lower case without separators. */
const PASSWORD_NAMES = new Set(['password', 'passwd', 'pass', 'pwd', 'passphrase']);
const EMAIL_NAMES = new Set(['email', 'mail', 'emailaddress']);
const USERNAME_NAMES = new Set(['username', 'user', 'login', 'userid', 'loginname', 'account']);
const TOTP_NAMES = new Set([
  'totp',
  'totpsecret',
  'otp',
  'otpauth',
  'otpsecret',
  'onetimepassword',
  '2fa',
  'mfasecret',
]);
const PROVIDER_NAMES = new Set(['ssoprovider']);
const PASSKEY_NAMES = new Set(['passkey', 'passkeys']);
const URL_NAMES = new Set(['url', 'urls', 'uri', 'uris', 'domain', 'website', 'site']);

/** Passkeys in the format of stored credentials, or a single one. */
const PasskeysOfItem = z.union([Passkeys, Passkey.transform((passkey) => [passkey])]);

/**
 * Maps the fields of a free-form item by name; unknown names are kept. `urls`: the item's sites, if they are not among its fields.
 * Throws {@link SecretStoreError} for passkeys in an unknown format.
 */
export function secretsOf(
  fields: Readonly<Record<string, string>>,
  version: number,
  urls: readonly string[] = urlsOf(fields),
): ItemSecrets {
  const sites = urls.flatMap((url) => siteAddress(url) ?? []);
  const secrets: ItemSecrets = { values: {}, totpSecret: null, passkeys: [], ssoProvider: null, sites, version };
  for (const [name, text] of Object.entries(fields)) {
    const canonical = canonicalName(name);
    if (text === '' || URL_NAMES.has(canonical)) continue;
    if (TOTP_NAMES.has(canonical)) secrets.totpSecret = text;
    else if (PROVIDER_NAMES.has(canonical)) secrets.ssoProvider = text;
    else if (PASSKEY_NAMES.has(canonical) && isJson(text)) secrets.passkeys.push(...passkeysOf(text));
    else secrets.values[keyOf(name, canonical)] ??= text;
  }
  return secrets;
}

/** The passkeys in an item that may have several fields of the same name. Throws like {@link secretsOf}. */
export function passkeysIn(fields: readonly (readonly [name: string, text: string])[]): Passkey[] {
  const texts = fields.filter(([name, text]) => PASSKEY_NAMES.has(canonicalName(name)) && isJson(text));
  return texts.flatMap(([, text]) => passkeysOf(text));
}

/** True if an item has this passkey. */
export function hasPasskey({ passkeys }: Pick<ItemSecrets, 'passkeys'>, { credential_id }: Passkey): boolean {
  return passkeys.some((current) => current.credential_id === credential_id);
}

/** Removes duplicates, which concurrent writes may create. */
export function uniquePasskeys(passkeys: readonly Passkey[]): Passkey[] {
  const firsts = new Map<string, Passkey>();
  for (const passkey of passkeys) if (!firsts.has(passkey.credential_id)) firsts.set(passkey.credential_id, passkey);
  return [...firsts.values()];
}

/**
 * Returns a function that computes the passkey field with a passkey added, or null if the item already has it. Undefined if the
 * item is at the limit, or its format cannot be extended without loss.
 */
export function passkeyAdder(
  fields: Readonly<Record<string, unknown>>,
): ((passkey: Passkey) => { name: string; value: unknown } | null) | undefined {
  const [first = ['passkeys', []] as const, ...others] = Object.entries(fields).filter(([name]) =>
    PASSKEY_NAMES.has(canonicalName(name)),
  );
  const [name, current] = first;
  const list = listOf(typeof current === 'string' ? parseJson(current) : current);
  if (others.length > 0 || list === null || list.length >= MAX_PASSKEYS) return undefined;
  return (passkey) => {
    if (list.some((each) => idOf(each) === passkey.credential_id)) return null;
    const value = [...list, passkey];
    return { name, value: typeof current === 'string' ? JSON.stringify(value) : value };
  };
}

/** Passkeys as written; null for other formats, such as a document of the exchange format. */
function listOf(current: unknown): unknown[] | null {
  if (Array.isArray(current)) return Passkeys.safeParse(current).success ? current : null;
  return Passkey.safeParse(current).success ? [current] : null;
}

function idOf(passkey: unknown): unknown {
  return Passkeys.safeParse([passkey]).data?.[0]?.credential_id;
}

/** A web address, with its scheme added if missing; null for anything else, such as an app id. */
export function siteAddress(url: string): string | null {
  const address = /^[a-z][a-z0-9+.-]*:\/\//i.test(url) ? url : `https://${url}`;
  return URL.canParse(address) && /^https?:/i.test(address) ? address : null;
}

/** The URLs in an item's fields. */
export function urlsOf(fields: Readonly<Record<string, string>>): string[] {
  return Object.entries(fields)
    .filter(([name]) => URL_NAMES.has(canonicalName(name)))
    .flatMap(([, text]) => text.split(/[\s,;]+/))
    .filter((url) => url !== '');
}

/** The fields of an item as text: numbers and booleans as strings, passkeys as JSON. */
export function textsOf(data: Readonly<Record<string, unknown>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(data).flatMap(([name, value]) =>
      typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
        ? [[name, String(value)] as const]
        : PASSKEY_NAMES.has(canonicalName(name))
          ? [[name, JSON.stringify(value)] as const]
          : [],
    ),
  );
}

/** True for text that may be passkeys: some sites call a typed code a passkey. */
function isJson(text: string): boolean {
  return /^\s*[[{]/.test(text);
}

function passkeysOf(text: string): Passkey[] {
  const parsed = PasskeysOfItem.safeParse(parseJson(text));
  if (parsed.success) return parsed.data;
  throw new SecretStoreError(
    'credential_item_not_found',
    'The `passkeys` of the item have an unknown format; use the format of POST /credentials',
  );
}

function keyOf(name: string, canonical: string): string {
  if (PASSWORD_NAMES.has(canonical)) return 'password';
  if (EMAIL_NAMES.has(canonical)) return 'email';
  return USERNAME_NAMES.has(canonical) ? 'username' : name;
}

function canonicalName(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9]/g, '');
}
