import { sql } from 'kysely';
import { SUMMARY_ENTRIES, type ConnectionSummary } from '../../contract/connection-summary.ts';
import type { Db } from '../database.ts';
import { withinScope, type Scope } from '../scope.ts';
import { isAwaitingPerson, readableJson } from './connection-lookups.ts';

/** Figures about the connections of a scope. */
export interface ConnectionSummaryQueries {
  /** Counts activity and durations from `since` on. One statement, which reads every document of the scope. */
  read(scope: Scope, since: Date): Promise<ConnectionSummary>;
}

export function createConnectionSummaryQueries(db: Db, clock: () => Date): ConnectionSummaryQueries {
  return {
    read: async (scope, since) => {
      const { rows } = await sql<{ summary: ConnectionSummary }>`
        with live as materialized (
          select id, domain, ${readableJson('document')} as document
          from connections where deleted_at is null and ${withinScope(scope, 'connections')}
        ),
        state as materialized (
          select domain, document ->> 'status' as status, (document ->> 'can_reauth')::boolean as can_reauth,
            document ->> 'can_reauth_reason' as reason,
            ${isAwaitingPerson(sql`document`, clock())} as is_waiting
          from live
        ),
        happened as materialized (
          select live.domain, timeline_events.type, timeline_events.at, ${readableJson('timeline_events.event')} as event
          from timeline_events join live on live.id = timeline_events.connection_id
          where timeline_events.at >= ${since}
        ),
        needing as (select * from state where status = 'NEEDS_AUTH' and not can_reauth),
        reasons as (select reason, count(*) from needing group by reason order by 2 desc, 1 limit ${SUMMARY_ENTRIES}),
        domains as (select domain, count(*) from needing group by domain order by 2 desc, 1 limit ${SUMMARY_ENTRIES}),
        hours as (
          select to_char(date_trunc('hour', at at time zone 'UTC'), 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as hour,
            count(*) filter (where type = 'health_check') as checks,
            count(*) filter (where type = 'health_check' and event ->> 'status' = 'NEEDS_AUTH') as expired,
            count(*) filter (where type <> 'health_check' and event ->> 'status' = 'SUCCESS') as logins,
            count(*) filter (where type <> 'health_check' and event ->> 'status' in ('FAILED', 'EXPIRED')) as failed_logins
          from happened group by 1 order by 1
        ),
        slowest as (
          select domain, count(*) as logins, round((percentile_cont(0.5) within group (order by extract(epoch from
            (event ->> 'updated_at')::timestamptz - (event ->> 'timestamp')::timestamptz)))::numeric, 1) as seconds
          from happened
          where type <> 'health_check' and event ->> 'status' = 'SUCCESS' and event ->> 'updated_at' is not null
          group by domain order by seconds desc, domain limit ${SUMMARY_ENTRIES}
        )
        select json_build_object(
          'total', (select count(*) from state),
          'authenticated', (select count(*) from state where status = 'AUTHENTICATED'),
          'will_log_in', (select count(*) from state where status = 'NEEDS_AUTH' and can_reauth),
          'needs_person', (select count(*) from needing),
          'waiting', (select count(*) from state where is_waiting),
          'reasons', (select coalesce(json_agg(reasons), '[]') from reasons),
          'domains', (select coalesce(json_agg(domains), '[]') from domains),
          'activity', (select coalesce(json_agg(hours), '[]') from hours),
          'slowest', (select coalesce(json_agg(slowest), '[]') from slowest)
        ) as summary`.execute(db);
      const [row] = rows;
      if (row === undefined) throw new Error('an aggregate without groups must return one row');
      return row.summary;
    },
  };
}
