import type { TimelineEvent } from '../../contract/connections.ts';
import type { Db } from '../database.ts';
import { pageOf, withinScope, type Page, type PageRequest, type Scope } from '../scope.ts';

/** The timeline; events are written by `connections.record`. */
export interface TimelineQueries {
  /** Newest first. Empty when the connection is not in scope. */
  list(
    scope: Scope,
    connectionId: string,
    filter: PageRequest & { type?: TimelineEvent['type'] },
  ): Promise<Page<TimelineEvent>>;
}

/** Queries of the timeline. */
export function createTimelineQueries(db: Db): TimelineQueries {
  return {
    list: async (scope, connectionId, { limit, offset, type }) => {
      const rows = await db
        .selectFrom('timeline_events')
        .innerJoin('connections', 'connections.id', 'timeline_events.connection_id')
        .select('timeline_events.event')
        .where('timeline_events.connection_id', '=', connectionId)
        .where(withinScope(scope, 'connections'))
        .where('connections.deleted_at', 'is', null)
        .$if(type !== undefined, (query) => query.where('timeline_events.type', '=', type ?? 'login'))
        .orderBy('timeline_events.at', 'desc')
        .orderBy('timeline_events.id', 'desc')
        .limit(limit + 1)
        .offset(offset)
        .execute();
      return pageOf(
        rows.map((row) => row.event),
        limit,
      );
    },
  };
}
