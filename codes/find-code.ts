/** Words near a one-time code, in many languages. */
const CODE_WORDS = [
  'codes?|otp|pin|passcode|one[- ]time|verif\\w*|tan|token|2fa',
  'c[oó]digos?|clave|contraseña|codice|cod(?:ul)?|mot de passe|password',
  'code(?:s|n)?|kode[nr]?|koden|kod(?:u|unuz|en)?|k[oó]d(?:ja|ot|em)?|koodi|kennwort|einmal\\w*|best[äa]tigung\\w*|sicherheits\\w*',
  'κωδικ[όο]ς?|код\\w*|пароль|парол\\w*|mã|รหัส|कोड|ओटीपी|kodi|kodas|kods',
  '验证码|驗證碼|校验码|动态码|認証コード|確認コード|コード|인증번호|인증 ?코드|확인 ?코드|رمز|كود|کد|קוד',
].join('|');
const NEAR_CODE = new RegExp(`(?:${CODE_WORDS})`, 'giu');

/** Text that looks like a code but is not; blanked before the search. */
const NOT_CODES: readonly RegExp[] = [
  // URLs and e-mail addresses.
  /https?:\/\/\S+/gi,
  /\bwww\.\S+/gi,
  /[\w.+-]+@[\w-]+\.[\w.-]+/g,
  // Dates and times.
  /\b\d{4}[-/.]\d{1,2}[-/.]\d{1,2}(?:[T ]\d{1,2}:\d{2}(?::\d{2})?)?/g,
  /\b\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4}\b/g,
  /\b\d{1,2}:\d{2}(?::\d{2})?\b/g,
  /\d{4}年|\d{1,2}月|\d{1,2}日/g,
  // Amounts: a number with a currency or decimals.
  /(?:[$€£¥₹₽₩₺₪]|\b(?:USD|EUR|GBP|CHF|INR|JPY|Rs\.?|PLN|SEK|NOK|DKK|BRL|R\$))\s?\d[\d.,' ]*/gi,
  /\d[\d.,']*\s?(?:[$€£¥₹₽₩₺₪%]|(?:USD|EUR|GBP|CHF|INR|JPY|PLN|SEK|NOK|DKK|BRL|Ft|kr|zł|Kč|元|円|원)(?![\p{L}]))/giu,
  /\b\d{1,3}(?:[.,]\d{3})+(?:[.,]\d+)?\b|\b\d+[.,]\d{1,2}\b/g,
  // Phone numbers: international, long, or in three or more groups.
  /\+\d[\d ()./-]{6,}\d/g,
  /\(\d{2,5}\)[\d ./-]{4,}\d/g,
  /\b\d{1,5}(?:[ .-]\d{2,4}){2,}\b(?<!\b\d{1,2}(?: \d{2}){2})/g,
  /\b\d{9,}\b/g,
  // The last digits of masked numbers.
  /(?:[*•xX#]{2,}[- ]?)+\d{2,4}\b/g,
  /\b(?:ending|ends|endet|endend|terminad[oa]|finissant|terminant|kończący)\b[^\d\n]{0,16}\d{2,4}\b/gi,
  // Order, invoice and account numbers.
  /\b(?:order|invoice|ticket|case|ref(?:erence)?|bestellung|rechnung|pedido|commande|account|konto|customer|kunden)\w*[ .:#°ºno-]{1,6}\d{4,}/gi,
];

const DIGIT_BLOCKS = [0x0660, 0x06f0, 0x0966, 0x09e6, 0x0e50];
/** `123456`, `123 456`, `12-34-56`, `G-123456`, `AB12CD`. */
const CANDIDATE =
  /(?<![\p{Script=Latin}\p{Script=Cyrillic}\p{N}_])(?:\d{2}[ -]\d{2}[ -]\d{2}|\d{3}[ -]\d{3}|\d{4}[ -]\d{4}|(?:[A-Z]{1,3}-)?\d{4,8}|(?=[A-Z0-9]*\d)(?=[A-Z0-9]*[A-Z])[A-Z0-9]{5,8}|[A-Z0-9]{3,4}-[A-Z0-9]{3,4}(?=[^-\p{L}\p{N}]|$))(?![\p{Script=Latin}\p{Script=Cyrillic}\p{N}_])/gu;
/** The last line of an origin-bound message: `@example.com #123456`. */
const ORIGIN_BOUND = /^@\S+ #([A-Za-z0-9-]{4,12})\b/m;
/** The score lead that a code needs over another one of the same length. */
const MIN_LEAD = 5;
/** Maximum distance between a code and its word, in characters. */
const MAX_DISTANCE = 80;

/** The one-time code in a message, without spaces or dashes between digits; null if there is none or it is ambiguous. */
export function findCode(message: string): string | null {
  const text = normalizeDigits(message);
  const originBound = ORIGIN_BOUND.exec(text)?.[1];
  if (originBound !== undefined) return originBound;
  const clean = NOT_CODES.reduce((rest, pattern) => rest.replace(pattern, (found) => ' '.repeat(found.length)), text);
  const words = [...clean.matchAll(NEAR_CODE)].map((match) => ({
    start: match.index,
    end: match.index + match[0].length,
  }));
  const scored = [...clean.matchAll(CANDIDATE)]
    .map((match) => ({ code: withoutSeparators(match[0]), score: scoreOf(clean, match[0], match.index, words) }))
    .sort((a, b) => b.score - a.score);
  const [best, ...others] = scored;
  if (best === undefined || best.score <= 0) return null;
  const rival = others.find(({ code }) => code !== best.code);
  const isRival = rival?.code.length === best.code.length && rival.score > best.score - MIN_LEAD;
  return isRival ? null : best.code;
}

function scoreOf(text: string, found: string, start: number, words: readonly { start: number; end: number }[]): number {
  const end = start + found.length;
  const distances = words
    .filter((word) => word.end <= start || word.start >= end)
    .map((word) => (word.end <= start ? start - word.end : (word.start - end) * 1.5));
  const nearest = Math.min(...distances, Number.POSITIVE_INFINITY);
  const before = text.slice(Math.max(0, start - 12), start);
  const line = text.slice(text.lastIndexOf('\n', start) + 1, `${text}\n`.indexOf('\n', end)).trim();
  let score = nearest <= MAX_DISTANCE ? 40 * (1 - nearest / (MAX_DISTANCE * 2)) : 0;
  if (/[:：=][^\S\n]*$|\b(?:is|ist|es|est|è|är|er|to|é|jest|は|是|为)[\s:"'“«]*$/iu.test(before)) score += 20;
  if (/\b(?:use|enter|type|utilisez|saisissez|usa|usar|verwenden? Sie|geben Sie)\s+$/i.test(before)) score += 20;
  if (line === found) score += 25;
  if (withoutSeparators(found).length === 6) score += 8;
  // Letters make a code only near a word that says so.
  if (/[A-Z]/.test(found) && nearest > MAX_DISTANCE && line !== found) return 0;
  if (isYear(found)) score -= 30;
  return score;
}

/** Joins the groups of a code and removes a prefix such as `G-`, which is not part of it. */
function withoutSeparators(found: string): string {
  const digits = found.replace(/^[A-Z]{1,3}-(?=\d{4,8}$)/, '');
  return /^[\d -]+$/.test(digits) ? digits.replaceAll(/[ -]/g, '') : digits;
}

function isYear(found: string): boolean {
  return /^(?:19|20)\d{2}$/.test(found);
}

/** Converts full-width digits and those of other scripts to ASCII, and removes invisible characters. */
function normalizeDigits(text: string): string {
  return (
    text
      // As ASCII they would join two numbers into one.
      .replaceAll(/[，、．]/g, ' ')
      .normalize('NFKC')
      .replaceAll(/[\u200b-\u200f\u202a-\u202e\u2060\ufeff]/g, '')
      .replaceAll(/\p{Nd}/gu, (digit) => {
        const point = digit.codePointAt(0) ?? 0;
        const zero = DIGIT_BLOCKS.find((block) => point >= block && point <= block + 9);
        return zero === undefined ? digit : String(point - zero);
      })
  );
}
