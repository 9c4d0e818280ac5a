import { language } from './language.ts';

const exact = new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeStyle: 'short' });
const moment = new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeStyle: 'medium' });
const clock = new Intl.DateTimeFormat(language, { timeStyle: 'medium' });
const relative = new Intl.RelativeTimeFormat(language, { numeric: 'auto' });
const plural = new Intl.PluralRules(language);
const whole = new Intl.NumberFormat(language);

const STEPS = [
  ['second', 60],
  ['minute', 60],
  ['hour', 24],
  ['day', 30],
  ['month', 12],
] as const;

/** Date and time of an ISO timestamp. */
export function formatTime(iso: string): string {
  return exact.format(new Date(iso));
}

/** Date and time to the second. */
export function formatMoment(iso: string): string {
  return moment.format(new Date(iso));
}

/** Time of day to the second. */
export function formatClock(iso: string): string {
  return clock.format(new Date(iso));
}

/** An ISO timestamp relative to now: "3 minutes ago". */
export function formatAgo(iso: string): string {
  let amount = (Date.parse(iso) - Date.now()) / 1000;
  for (const [unit, size] of STEPS) {
    if (Math.abs(amount) < size) return relative.format(Math.round(amount), unit);
    amount /= size;
  }
  return relative.format(Math.round(amount), 'year');
}

/** A duration in seconds in its largest fitting unit: "4.2 s", "3 min", "2 h". */
export function formatDuration(seconds: number): string {
  const unit = (amount: number, name: string, digits: number): string =>
    new Intl.NumberFormat(language, {
      style: 'unit',
      unit: name,
      unitDisplay: 'short',
      maximumFractionDigits: digits,
    }).format(amount);
  if (seconds < 60) return unit(seconds, 'second', seconds < 10 ? 1 : 0);
  if (seconds < 3600) return unit(seconds / 60, 'minute', 0);
  if (seconds < 172_800) return unit(seconds / 3600, 'hour', 1);
  return unit(seconds / 86_400, 'day', 0);
}

/** Singular and plural form of a text. */
export type Counted = Readonly<Record<'one' | 'other', string>>;

/** The form that fits a count. */
export function counted(count: number, words: Counted): string {
  return words[plural.select(count) === 'one' ? 'one' : 'other'];
}

/** A whole number with thousands separators. */
export function formatNumber(value: number): string {
  return whole.format(value);
}
