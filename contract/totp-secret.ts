/** What the codes of an authenticator are made by. */
export interface TotpParameters {
  /** Base32, upper case, without spaces, dashes or padding. */
  secret: string;
  /** Seconds. */
  period: number;
  digits: number;
  algorithm: TotpAlgorithm;
}

const ALGORITHMS = ['SHA1', 'SHA256', 'SHA512'] as const;
type TotpAlgorithm = (typeof ALGORITHMS)[number];

/** What sites use that say nothing of it (RFC 6238). */
const USUAL = { period: 30, digits: 6, algorithm: 'SHA1' } as const;

/** Reads a secret as people have it: base32 in any spacing and case, or a whole `otpauth://totp/` address. Null when it is neither. */
export function readTotpSecret(text: string): TotpParameters | null {
  const trimmed = text.trim();
  if (!/^otpauth:/i.test(trimmed)) return withSecret(trimmed, USUAL);
  if (!URL.canParse(trimmed)) return null;
  const { host, pathname, searchParams } = new URL(trimmed);
  // Not every URL parser takes what follows `otpauth:` for a host.
  if (!/^(\/\/)?totp(\/|$)/i.test(host === '' ? pathname : host)) return null;
  const algorithm = ALGORITHMS.find(
    (each) => each === (searchParams.get('algorithm') ?? USUAL.algorithm).toUpperCase(),
  );
  const period = wholeNumber(searchParams.get('period') ?? String(USUAL.period), 10, 300);
  const digits = wholeNumber(searchParams.get('digits') ?? String(USUAL.digits), 6, 8);
  if (algorithm === undefined || period === null || digits === null) return null;
  return withSecret(searchParams.get('secret') ?? '', { period, digits, algorithm });
}

/** The one spelling in which a secret is kept: base32 alone where it is used as usual, else an address. Null when it is none. */
export function normalizeTotpSecret(text: string): string | null {
  const read = readTotpSecret(text);
  if (read === null) return null;
  const { secret, period, digits, algorithm } = read;
  const isUsual = period === USUAL.period && digits === USUAL.digits && algorithm === USUAL.algorithm;
  if (isUsual) return secret;
  return `otpauth://totp/holdfast?secret=${secret}&algorithm=${algorithm}&digits=${String(digits)}&period=${String(period)}`;
}

function withSecret(text: string, rest: Omit<TotpParameters, 'secret'>): TotpParameters | null {
  const secret = text.replaceAll(/[\s-]/g, '').replace(/=+$/, '').toUpperCase();
  return /^[A-Z2-7]{16,}$/.test(secret) ? { secret, ...rest } : null;
}

function wholeNumber(text: string, min: number, max: number): number | null {
  const number = /^\d{1,4}$/.test(text) ? Number(text) : Number.NaN;
  return number >= min && number <= max ? number : null;
}
