import type { ColumnType } from 'kysely';

/** Read as a value, written as text. */
export type Json<Value> = ColumnType<Value, string, string>;

/** A limit; null for none. */
export type Limit = ColumnType<number | null, number | null | undefined, number | null>;
