/** Parameters of an authenticator's codes. */
interface TotpParameters {
  /** Base32, upper case, without spaces, dashes or padding. */
  secret: string;
  /** Seconds. */
  period: number;
  digits: number;
  algorithm: TotpAlgorithm;
}

/** Algorithms that authenticators support. */
export const TOTP_ALGORITHMS = ['SHA1', 'SHA256', 'SHA512'] as const;
type TotpAlgorithm = (typeof TOTP_ALGORITHMS)[number];

/** Bounds of the settings. */
export const TOTP_BOUNDS = { period: { min: 10, max: 300 }, digits: { min: 6, max: 8 } } as const;

/** Settings given with a secret. */
export type TotpSettings = Partial<Omit<TotpParameters, 'secret'>>;

/** Defaults (RFC 6238). */
const USUAL: Required<TotpSettings> = { period: 30, digits: 6, algorithm: 'SHA1' };

/** Parses base32 in any form, or an `otpauth://totp/` address, whose settings override `given`; else null. */
export function readTotpSecret(text: string, given: TotpSettings = {}): TotpParameters | null {
  const trimmed = text.trim();
  const settings = { ...USUAL, ...given };
  if (isBareTotpSecret(text)) return withSecret(trimmed, settings);
  if (!URL.canParse(trimmed)) return null;
  const { host, pathname, searchParams } = new URL(trimmed);
  // Not every URL parser treats what follows `otpauth:` as a host.
  if (!/^(\/\/)?totp(\/|$)/i.test(host === '' ? pathname : host)) return null;
  const algorithm = TOTP_ALGORITHMS.find(
    (each) => each === (searchParams.get('algorithm') ?? settings.algorithm).toUpperCase(),
  );
  const period = wholeNumber(searchParams.get('period') ?? String(settings.period), TOTP_BOUNDS.period);
  const digits = wholeNumber(searchParams.get('digits') ?? String(settings.digits), TOTP_BOUNDS.digits);
  if (algorithm === undefined || period === null || digits === null) return null;
  return withSecret(searchParams.get('secret') ?? '', { period, digits, algorithm });
}

/** True for a secret without period, digits and algorithm. */
export function isBareTotpSecret(text: string): boolean {
  return !/^otpauth:/i.test(text.trim());
}

/** The stored form of a secret: base32 with default settings, else an address. Null if it is invalid. */
export function normalizeTotpSecret(text: string, given?: TotpSettings): string | null {
  const read = readTotpSecret(text, given);
  if (read === null) return null;
  const { secret, period, digits, algorithm } = read;
  const isUsual = period === USUAL.period && digits === USUAL.digits && algorithm === USUAL.algorithm;
  if (isUsual) return secret;
  return `otpauth://totp/holdfast?secret=${secret}&algorithm=${algorithm}&digits=${String(digits)}&period=${String(period)}`;
}

function withSecret(text: string, rest: Required<TotpSettings>): TotpParameters | null {
  const secret = text.replaceAll(/[\s-]/g, '').replace(/=+$/, '').toUpperCase();
  return /^[A-Z2-7]{16,}$/.test(secret) ? { secret, ...rest } : null;
}

function wholeNumber(text: string, { min, max }: { min: number; max: number }): number | null {
  const number = /^\d{1,4}$/.test(text) ? Number(text) : Number.NaN;
  return number >= min && number <= max ? number : null;
}
