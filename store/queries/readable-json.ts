import { sql, type RawBuilder } from 'kysely';

/**
 * A `json` column that may be looked into. What a page says may hold NUL and lone surrogates, in escapes that Postgres keeps and
 * then refuses to read: they are made question marks. Values of ours (states, ids, times) never hold one.
 */
export function readableJson(column: string): RawBuilder<unknown> {
  const value = sql.ref(column);
  return sql`(case when ${value}::text ~ ${String.raw`\\u(0000|[dD][89a-fA-F])`} then regexp_replace(${value}::text,
    ${String.raw`(?<!\\)((?:\\\\)*)\\u(?:0000|[dD][89a-fA-F][0-9a-fA-F]{2})`}, ${String.raw`\1?`}, 'g')::json else ${value} end)`;
}

/** True for a connection's document whose login waits for somebody at a time. */
export function isWaiting(document: RawBuilder<unknown>, at: Date): RawBuilder<unknown> {
  return sql`(${document} #>> '{flow,flow_status}' = 'IN_PROGRESS'
    and ${document} #>> '{flow,flow_step}' in ('AWAITING_INPUT', 'AWAITING_EXTERNAL_ACTION')
    and (${document} #>> '{flow,flow_expires_at}')::timestamptz > ${at})`;
}
