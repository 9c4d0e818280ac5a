import { sql, type RawBuilder } from 'kysely';
import type { Db } from '../database.ts';

const DAY_MS = 86_400_000;
/** Most days of one slice: the index compares them all at each row. */
const MOST_DAYS = 32;

/** Days in UTC, numbered from 1970-01-01; both are included. */
export interface Days {
  first: number;
  last: number;
}

/** The days from the oldest to the newest row of the audit log that meets the conditions; null where none does. */
export async function readDays(db: Db, conditions: readonly RawBuilder<unknown>[]): Promise<Days | null> {
  const { rows } = await sql<{ oldest: Date | null; newest: Date | null }>`
    select min(timestamp) as oldest, max(timestamp) as newest from audit_log where ${sql.join(conditions, sql` and `)}
  `.execute(db);
  const [{ oldest, newest } = { oldest: null, newest: null }] = rows;
  return oldest === null || newest === null ? null : { first: dayOf(oldest), last: dayOf(newest) };
}

/** Parts of days, the newest first, each longer than all before it: little is read for what is found soon, and there are few of them. */
export function slicesOf({ first, last }: Days): Days[] {
  const slices: Days[] = [];
  for (let until = last; until >= first;) {
    const length = Math.min(Math.max(3 * (last - until), 1), MOST_DAYS);
    const from = Math.max(first, until - length + 1);
    slices.push({ first: from, last: until });
    until = from - 1;
  }
  return slices;
}

/** The newer half of several days, and the older one. */
export function halvesOf({ first, last }: Days): [Days, Days] {
  const middle = Math.ceil((first + last) / 2);
  return [
    { first: middle, last },
    { first, last: middle - 1 },
  ];
}

/** When the first of the days begins. */
export function beginningOf({ first }: Days): Date {
  return new Date(first * DAY_MS);
}

/** When the last of the days ends. */
export function endOf({ last }: Days): Date {
  return new Date((last + 1) * DAY_MS);
}

/** All of the days. */
export function eachOf({ first, last }: Days): number[] {
  return Array.from({ length: last - first + 1 }, (_, index) => first + index);
}

function dayOf(time: Date): number {
  return Math.floor(time.getTime() / DAY_MS);
}
