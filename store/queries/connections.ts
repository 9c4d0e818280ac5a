import type { Page, PageRequest, Scope } from "../scope.ts";
import type { TimelineEvent } from "./timeline.ts";

/** A stored connection. `document` is the whole state as the workflow wrote it; it holds no secret. */
export interface ConnectionRow<Document> {
  id: string;
  organizationId: string;
  projectId: string;
  profileName: string;
  domain: string;
  document: Document;
  revision: number;
  createdAt: Date;
  updatedAt: Date;
}

/** What {@link ConnectionQueries.insert} needs. */
export interface NewConnection<Document> {
  id: string;
  organizationId: string;
  projectId: string;
  profileName: string;
  domain: string;
  document: Document;
  revision: number;
  createdAt: Date;
}

/** What {@link ConnectionQueries.record} writes. `createdAt` is when the state came to be. */
export interface ConnectionChange<Document> {
  id: string;
  revision: number;
  document: Document;
  timeline?: TimelineEvent[];
  createdAt: Date;
}

/** One past state, for streams. */
export interface ConnectionState<Document> {
  revision: number;
  document: Document;
  at: Date;
}

/** Connections: one row each, written by the workflow's activities alone, read by everyone. */
export interface ConnectionQueries<Document> {
  /** Race-safe: of many inserts for one project, profile and domain one wins. The same id again is `inserted`. */
  insert(
    row: NewConnection<Document>,
  ): Promise<
    { outcome: "inserted" } | { outcome: "exists"; existingId: string }
  >;
  byId(scope: Scope, id: string): Promise<ConnectionRow<Document> | null>;
  /** For Holdfast's own parts (activities): no tenant asks, so no scope is checked. */
  byIdUnscoped(id: string): Promise<ConnectionRow<Document> | null>;
  byProfileAndDomain(
    scope: Scope,
    profileName: string,
    domain: string,
  ): Promise<ConnectionRow<Document> | null>;
  /** Newest first. `query`: case-insensitive part of the domain or of the profile name. */
  list(
    scope: Scope,
    filter: PageRequest & {
      profileName?: string;
      domain?: string;
      query?: string;
    },
  ): Promise<Page<ConnectionRow<Document>>>;
  /** Applies a change whose revision is larger than the stored one; false when it is not (or the row is gone). */
  record(change: ConnectionChange<Document>): Promise<boolean>;
  /** States after `revision`, oldest first; at most the last 200 are kept. */
  statesSince(
    id: string,
    revision: number,
  ): Promise<ConnectionState<Document>[]>;
  /** The row once its revision has reached `revision`; null after `timeoutMs` or when it is gone. */
  waitForRevision(
    id: string,
    revision: number,
    timeoutMs: number,
  ): Promise<ConnectionRow<Document> | null>;
  /** Removes the connection with its data key, submissions, handoffs, states and timeline. False when there was none. */
  remove(scope: Scope, id: string): Promise<boolean>;
}
