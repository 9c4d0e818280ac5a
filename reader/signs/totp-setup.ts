import { asksForCode } from '../../contract/code-fields.ts';
import type { PageReading } from '../../contract/reading.ts';
import { readTotpSecret } from '../../contract/totp-secret.ts';
import { AUTHENTICATOR } from '../choices/mfa-methods.ts';
import type { FrameSnapshot } from '../facts.ts';
import { redactSecrets } from '../redact.ts';
import { anyOf, normalize } from '../text/normalize.ts';
import { textsOf } from '../text/page-text.ts';

/** Words for the secret that can be copied instead of scanning the QR code. */
const KEY_WORDS = anyOf(
  'key, secret, setup key, setup code, set up key, manual entry, enter manually, enter this code, this text code, qr code, scan',
  'schlussel, einrichtungsschlussel, clave, cle, chiave, chave, sleutel, nyckel, klucz, klic, anahtar, ключ, код настройки, キー, 密钥, 金鑰, 키',
);

/** Base32, in one piece or in groups. */
const SECRET =
  /(?<![\w=/+-])(?:[A-Z2-7]{16,64}|[a-z2-7]{16,64}|[A-Z2-7]{4}(?:[ -][A-Z2-7]{4}){3,15}|[a-z2-7]{4}(?:[ -][a-z2-7]{4}){3,15})=*(?![\w/+-])/g;

/** The secret of a new authenticator, and its spellings on the page. */
interface DisplayedSecret {
  secret: string;
  spellings: string[];
}

/** True for a page that sets up an authenticator but has no secret in its text: it may be in a QR code. */
export function hasUnreadableTotpSecret(frames: readonly FrameSnapshot[]): boolean {
  return mentionsTotpSetup(frames) && readTotpSetup(frames) === null;
}

function mentionsTotpSetup(frames: readonly FrameSnapshot[]): boolean {
  const said = normalize(
    textsOf(frames)
      .map(({ text }) => text)
      .join(' | '),
  );
  return AUTHENTICATOR.test(said) && KEY_WORDS.test(said);
}

/**
 * The secret for a new authenticator in a text, an `otpauth://` link or a QR code; null if there is none or more than one.
 * Only for the activity that enters the first code: the secret must not travel any further.
 */
export function readTotpSetup(frames: readonly FrameSnapshot[]): DisplayedSecret | null {
  const texts = textsOf(frames).map(({ text }) => text);
  const links = frames.flatMap(({ facts }) => facts.clickables).map(({ href }) => href);
  const qrCodes = frames.flatMap((frame) => frame.qrCodes ?? []);
  const linked = [...links, ...qrCodes, ...texts].flatMap((text) => text.match(/otpauth:\/\/totp\/\S+/gi) ?? []);
  const printed = mentionsTotpSetup(frames)
    ? texts.flatMap((text) => text.match(SECRET) ?? []).filter(looksRandom)
    : [];
  const found = new Map<string, DisplayedSecret>();
  for (const each of [...linked, ...printed]) {
    const key = readTotpSecret(each)?.secret;
    if (key === undefined) continue;
    // A link is preferred, since it also has the period and the number of digits.
    const known = found.get(key) ?? { secret: each, spellings: [] };
    found.set(key, { ...known, spellings: [...known.spellings, each] });
  }
  const [only, another] = found.values();
  return another === undefined ? (only ?? null) : null;
}

/** Words in capitals are valid base32. A secret has digits, or too few vowels to be words. */
function looksRandom(text: string): boolean {
  const letters = text.replaceAll(/[^a-z]/gi, '');
  const vowels = letters.replaceAll(/[^aeiou]/gi, '').length;
  return /[2-7]/.test(text) || vowels * 4 < letters.length;
}

/** Marks a reading that offers a new authenticator, and redacts the secret, which field hints may quote. */
export function markTotpSetup(reading: PageReading, frames: readonly FrameSnapshot[]): PageReading {
  const found = reading.fields.some(({ type }) => asksForCode(type)) ? readTotpSetup(frames) : null;
  if (found === null) return reading;
  // A truncated text contains a prefix of the secret.
  const prefixes = found.spellings.flatMap((text) =>
    Array.from({ length: Math.max(0, text.length - MIN_PREFIX) }, (_, cut) => text.slice(0, text.length - cut)),
  );
  // The instructions link to authenticator apps.
  const choices = reading.choices.filter(({ mfa_type: type }) => type !== 'totp');
  return { ...redactSecrets({ ...reading, choices }, prefixes), enrolment: true };
}

/** Shorter prefixes of a secret reveal nothing useful. */
const MIN_PREFIX = 8;
