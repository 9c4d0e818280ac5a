/** What the codes of an authenticator are made by. */
export interface TotpParameters {
  /** Base32, upper case, without spaces, dashes or padding. */
  secret: string;
  /** Seconds. */
  period: number;
  digits: number;
  algorithm: TotpAlgorithm;
}

/** Algorithms that authenticators know. */
export const TOTP_ALGORITHMS = ['SHA1', 'SHA256', 'SHA512'] as const;
type TotpAlgorithm = (typeof TOTP_ALGORITHMS)[number];

/** Bounds of what may be set beside the secret. */
export const TOTP_BOUNDS = { period: { min: 10, max: 300 }, digits: { min: 6, max: 8 } } as const;

/** What a secret may come with. */
export type TotpSettings = Partial<Omit<TotpParameters, 'secret'>>;

/** What sites use that say nothing of it (RFC 6238). */
const USUAL: Required<TotpSettings> = { period: 30, digits: 6, algorithm: 'SHA1' };

/**
 * Reads a secret as people have it: base32 in any spacing and case, or a whole `otpauth://totp/` address. `given` is what is
 * known beside it; an address that says otherwise counts. Null when it is neither.
 */
export function readTotpSecret(text: string, given: TotpSettings = {}): TotpParameters | null {
  const trimmed = text.trim();
  const settings = { ...USUAL, ...given };
  if (isBareTotpSecret(text)) return withSecret(trimmed, settings);
  if (!URL.canParse(trimmed)) return null;
  const { host, pathname, searchParams } = new URL(trimmed);
  // Not every URL parser takes what follows `otpauth:` for a host.
  if (!/^(\/\/)?totp(\/|$)/i.test(host === '' ? pathname : host)) return null;
  const algorithm = TOTP_ALGORITHMS.find(
    (each) => each === (searchParams.get('algorithm') ?? settings.algorithm).toUpperCase(),
  );
  const period = wholeNumber(searchParams.get('period') ?? String(settings.period), TOTP_BOUNDS.period);
  const digits = wholeNumber(searchParams.get('digits') ?? String(settings.digits), TOTP_BOUNDS.digits);
  if (algorithm === undefined || period === null || digits === null) return null;
  return withSecret(searchParams.get('secret') ?? '', { period, digits, algorithm });
}

/** True for a secret alone, which says nothing of period, digits and algorithm. */
export function isBareTotpSecret(text: string): boolean {
  return !/^otpauth:/i.test(text.trim());
}

/** The one spelling in which a secret is kept: base32 alone where it is used as usual, else an address. Null when it is none. */
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
