import type { ColumnType } from 'kysely';

/** Read as a value, written as text. */
export type Json<Value> = ColumnType<Value, string, string>;

/** None unless it is set. */
export type Limit = ColumnType<number | null, number | null | undefined, number | null>;
