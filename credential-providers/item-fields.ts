import { z } from 'zod';
import { MAX_PASSKEYS, Passkey, Passkeys } from '../contract/passkeys.ts';
import { parseJson } from './http.ts';
import { SecretStoreError, type ItemSecrets } from './secret-store.ts';

/** Names under which people keep the same thing in free-form items, in lower case without separators. */
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

/** Passkeys as a stored credential takes them, or one alone. */
const PasskeysOfItem = z.union([Passkeys, Passkey.transform((passkey) => [passkey])]);

/**
 * Reads an item that is a set of names and texts by what its names mean; a name without a meaning stays as it is. `urls`: where
 * the item's sites stand apart from its fields. Throws {@link SecretStoreError} for passkeys in another form than ours.
 */
export function secretsOf(
  fields: Readonly<Record<string, string>>,
  version: number,
  urls: readonly string[] = urlsOf(fields),
): ItemSecrets {
  const sites = urls.flatMap((url) => siteAddress(url) ?? []);
  const secrets: ItemSecrets = { values: {}, totpSecret: null, passkeys: [], ssoProvider: null, sites, version };
  for (const [name, text] of Object.entries(fields)) {
    const plain = plainName(name);
    if (text === '' || URL_NAMES.has(plain)) continue;
    if (TOTP_NAMES.has(plain)) secrets.totpSecret = text;
    else if (PROVIDER_NAMES.has(plain)) secrets.ssoProvider = text;
    else if (PASSKEY_NAMES.has(plain) && isJson(text)) secrets.passkeys.push(...passkeysOf(text));
    else secrets.values[keyOf(name, plain)] ??= text;
  }
  return secrets;
}

/** The passkeys in all fields of an item that may have a name more than once. Throws as {@link secretsOf} does. */
export function passkeysIn(fields: readonly (readonly [name: string, text: string])[]): Passkey[] {
  const texts = fields.filter(([name, text]) => PASSKEY_NAMES.has(plainName(name)) && isJson(text));
  return texts.flatMap(([, text]) => passkeysOf(text));
}

/** True for an item that has this passkey. */
export function holds({ passkeys }: Pick<ItemSecrets, 'passkeys'>, { credential_id }: Passkey): boolean {
  return passkeys.some((held) => held.credential_id === credential_id);
}

/** Each passkey once: two that write the same one at the same time may have written it twice. */
export function distinct(passkeys: readonly Passkey[]): Passkey[] {
  const firsts = new Map<string, Passkey>();
  for (const passkey of passkeys) if (!firsts.has(passkey.credential_id)) firsts.set(passkey.credential_id, passkey);
  return [...firsts.values()];
}

/**
 * What adds a passkey to an item: the field that holds them, with what it holds then; null where the item has that passkey. Undefined
 * where the item's passkeys are in a form that a list cannot be made of without losing something of it, or are as many as may be. Pure.
 */
export function passkeyAdder(
  fields: Readonly<Record<string, unknown>>,
): ((passkey: Passkey) => { name: string; value: unknown } | null) | undefined {
  const [first = ['passkeys', []] as const, ...others] = Object.entries(fields).filter(([name]) =>
    PASSKEY_NAMES.has(plainName(name)),
  );
  const [name, held] = first;
  const list = listOf(typeof held === 'string' ? parseJson(held) : held);
  if (others.length > 0 || list === null || list.length >= MAX_PASSKEYS) return undefined;
  return (passkey) => {
    if (list.some((each) => idOf(each) === passkey.credential_id)) return null;
    const value = [...list, passkey];
    return { name, value: typeof held === 'string' ? JSON.stringify(value) : value };
  };
}

/** Passkeys one by one, as they are written; null for what is no list of them, such as a document of the exchange format. */
function listOf(held: unknown): unknown[] | null {
  if (Array.isArray(held)) return Passkeys.safeParse(held).success ? held : null;
  return Passkey.safeParse(held).success ? [held] : null;
}

function idOf(passkey: unknown): unknown {
  return Passkeys.safeParse([passkey]).data?.[0]?.credential_id;
}

/** An address of the web, written with or without its scheme; null for what is none, such as an app's id. */
export function siteAddress(url: string): string | null {
  const address = /^[a-z][a-z0-9+.-]*:\/\//i.test(url) ? url : `https://${url}`;
  return URL.canParse(address) && /^https?:/i.test(address) ? address : null;
}

/** The addresses that an item names for itself. */
export function urlsOf(fields: Readonly<Record<string, string>>): string[] {
  return Object.entries(fields)
    .filter(([name]) => URL_NAMES.has(plainName(name)))
    .flatMap(([, text]) => text.split(/[\s,;]+/))
    .filter((url) => url !== '');
}

/** The texts among what an item holds; numbers and truth values as they are written, passkeys as JSON. */
export function textsOf(data: Readonly<Record<string, unknown>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(data).flatMap(([name, value]) =>
      typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
        ? [[name, String(value)] as const]
        : PASSKEY_NAMES.has(plainName(name))
          ? [[name, JSON.stringify(value)] as const]
          : [],
    ),
  );
}

/** True for what can be passkeys: some sites call a code that is typed a passkey, too. */
function isJson(text: string): boolean {
  return /^\s*[[{]/.test(text);
}

function passkeysOf(text: string): Passkey[] {
  const parsed = PasskeysOfItem.safeParse(parseJson(text));
  if (parsed.success) return parsed.data;
  throw new SecretStoreError(
    'credential_item_not_found',
    'The `passkeys` of the item are not in a form that can be read; give them as POST /credentials takes them',
  );
}

function keyOf(name: string, plain: string): string {
  if (PASSWORD_NAMES.has(plain)) return 'password';
  if (EMAIL_NAMES.has(plain)) return 'email';
  return USERNAME_NAMES.has(plain) ? 'username' : name;
}

function plainName(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9]/g, '');
}
