import type { Page, PageRequest, Scope } from "../scope.ts";

/** What a timeline event is about. */
export type TimelineEventType = "login" | "reauth" | "health_check";

/** An event of a connection's history, in the shape of its answer (times are ISO strings). */
export interface TimelineEvent {
  id: string;
  type: TimelineEventType;
  /** A flow status, or AUTHENTICATED / NEEDS_AUTH for a health check. */
  status: string;
  timestamp: string;
  updated_at?: string;
  step?: string;
  previous_status?: string;
  error_code?: string;
  error_message?: string;
  website_error?: string;
  browser_session_id?: string;
  replay_id?: string;
  telemetry_captured?: boolean;
}

/** The timeline; events are written by `connections.record`. */
export interface TimelineQueries {
  /** Newest first. Empty when the connection is not in scope. */
  list(
    scope: Scope,
    connectionId: string,
    filter: PageRequest & { type?: TimelineEventType },
  ): Promise<Page<TimelineEvent>>;
}
