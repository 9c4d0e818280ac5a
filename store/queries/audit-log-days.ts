import { sql, type RawBuilder } from 'kysely';
import type { Db } from '../database.ts';

const DAY_MS = 86_400_000;
/** Maximum days of one slice: the index compares all of them with every row. */
const MAX_SLICE_DAYS = 32;

/** An inclusive range of UTC days, numbered from 1970-01-01. */
export interface Days {
  first: number;
  last: number;
}

/** The days from the oldest to the newest row that meets the conditions; null if none does. */
export async function readDays(db: Db, conditions: readonly RawBuilder<unknown>[]): Promise<Days | null> {
  const { rows } = await sql<{ oldest: Date | null; newest: Date | null }>`
    select min(timestamp) as oldest, max(timestamp) as newest from audit_log where ${sql.join(conditions, sql` and `)}
  `.execute(db);
  const [{ oldest, newest } = { oldest: null, newest: null }] = rows;
  return oldest === null || newest === null ? null : { first: dayOf(oldest), last: dayOf(newest) };
}

/** Splits days into slices, newest first and growing, so that early matches are cheap and there are few slices. */
export function sliceDays({ first, last }: Days): Days[] {
  const slices: Days[] = [];
  for (let until = last; until >= first;) {
    const length = Math.min(Math.max(3 * (last - until), 1), MAX_SLICE_DAYS);
    const from = Math.max(first, until - length + 1);
    slices.push({ first: from, last: until });
    until = from - 1;
  }
  return slices;
}

/** The newer and the older half of several days. */
export function splitDays({ first, last }: Days): [Days, Days] {
  const middle = Math.ceil((first + last) / 2);
  return [
    { first: middle, last },
    { first, last: middle - 1 },
  ];
}

/** The start of the first day. */
export function startOf({ first }: Days): Date {
  return new Date(first * DAY_MS);
}

/** The end of the last day. */
export function endOf({ last }: Days): Date {
  return new Date((last + 1) * DAY_MS);
}

/** The number of every day. */
export function listDays({ first, last }: Days): number[] {
  return Array.from({ length: last - first + 1 }, (_, index) => first + index);
}

function dayOf(time: Date): number {
  return Math.floor(time.getTime() / DAY_MS);
}
