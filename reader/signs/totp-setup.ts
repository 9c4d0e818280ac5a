import { asksForCode } from '../../contract/code-fields.ts';
import type { PageReading } from '../../contract/reading.ts';
import { readTotpSecret } from '../../contract/totp-secret.ts';
import { AUTHENTICATOR } from '../choices/mfa-methods.ts';
import type { FrameSnapshot } from '../facts.ts';
import { redactSecrets } from '../redact.ts';
import { anyOf, normalize } from '../text/normalize.ts';

/** What sites call the secret that a person copies instead of the picture. */
const KEY_WORDS = anyOf(
  'key, secret, setup key, setup code, set up key, manual entry, enter manually, enter this code, this text code, qr code, scan',
  'schlussel, einrichtungsschlussel, clave, cle, chiave, chave, sleutel, nyckel, klucz, klic, anahtar, ключ, код настройки, キー, 密钥, 金鑰, 키',
);

/** Base32 alone or in groups, as sites print it. */
const PRINTED =
  /(?<![\w=/+-])(?:[A-Z2-7]{16,64}|[a-z2-7]{16,64}|[A-Z2-7]{4}(?:[ -][A-Z2-7]{4}){3,15}|[a-z2-7]{4}(?:[ -][a-z2-7]{4}){3,15})=*(?![\w/+-])/g;

/** The secret of a new authenticator, and how the page prints it. */
export interface PrintedSecret {
  secret: string;
  printed: string[];
}

/** True for a page that sets an authenticator up and has its secret in no text: it may be in a picture. Pure. */
export function hasUnreadableTotpSecret(frames: readonly FrameSnapshot[]): boolean {
  return speaksOfEnrolment(frames) && readTotpSetup(frames) === null;
}

function speaksOfEnrolment(frames: readonly FrameSnapshot[]): boolean {
  const said = normalize(textsOf(frames).join(' | '));
  return AUTHENTICATOR.test(said) && KEY_WORDS.test(said);
}

function textsOf(frames: readonly FrameSnapshot[]): string[] {
  return frames.flatMap(({ facts }) => facts.texts).map(({ text }) => text);
}

/**
 * The secret that a page offers for a new authenticator, as text, in an `otpauth://` link or in a QR code; null where there is none, or
 * more than one. For the activity that types its first code alone: nothing else may carry it on. Pure.
 */
export function readTotpSetup(frames: readonly FrameSnapshot[]): PrintedSecret | null {
  const texts = textsOf(frames);
  const links = frames.flatMap(({ facts }) => facts.clickables).map(({ href }) => href);
  const drawn = frames.flatMap(({ qrCodes }) => qrCodes ?? []);
  const linked = [...links, ...drawn, ...texts].flatMap((text) => text.match(/otpauth:\/\/totp\/\S+/gi) ?? []);
  const printed = speaksOfEnrolment(frames)
    ? texts.flatMap((text) => text.match(PRINTED) ?? []).filter(looksRandom)
    : [];
  const found = new Map<string, PrintedSecret>();
  for (const each of [...linked, ...printed]) {
    const key = readTotpSecret(each)?.secret;
    if (key === undefined) continue;
    // A link comes first: it tells the period and the digits, too.
    const known = found.get(key) ?? { secret: each, printed: [] };
    found.set(key, { ...known, printed: [...known.printed, each] });
  }
  const [only, another] = found.values();
  return another === undefined ? (only ?? null) : null;
}

/** Words in capitals are base32, too. A secret has digits, or too few vowels for words. */
function looksRandom(text: string): boolean {
  const letters = text.replaceAll(/[^a-z]/gi, '');
  const vowels = letters.replaceAll(/[^aeiou]/gi, '').length;
  return /[2-7]/.test(text) || vowels * 4 < letters.length;
}

/** A reading that says that the page offers a new authenticator, without its secret: hints quote what stands around a field. */
export function markTotpSetup(reading: PageReading, frames: readonly FrameSnapshot[]): PageReading {
  const found = reading.fields.some(({ type }) => asksForCode(type)) ? readTotpSetup(frames) : null;
  if (found === null) return reading;
  // A text that was cut holds the beginning of a secret.
  const beginnings = found.printed.flatMap((text) =>
    Array.from({ length: Math.max(0, text.length - SHORTEST) }, (_, cut) => text.slice(0, text.length - cut)),
  );
  return { ...redactSecrets(reading, beginnings), enrolment: true };
}

/** Fewer characters of a secret than this are worth nothing to anybody. */
const SHORTEST = 8;
