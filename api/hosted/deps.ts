import type { ConnectionSubmit, ManagedAuth } from '../../contract/connections.ts';

/** A connection as it was at one revision, and the flow it was in (null before the first flow). */
export interface HostedState {
  flowId: string | null;
  /** Grows with every change of the connection; the page uses it as event id. */
  revision: number;
  connection: ManagedAuth;
}

/** What a token of the hosted page stands for. `expiresAt` in milliseconds since 1970. */
export interface HostedSession {
  connectionId: string;
  flowId: string;
  expiresAt: number;
}

/** What {@link HostedPageDeps.states} is asked for. */
export interface StatesRequest {
  /** Ends the iteration when it aborts. */
  signal: AbortSignal;
  /** The last revision that the page has seen; null yields the current state first. */
  afterRevision: number | null;
}

/** What the hosted page needs of the rest of the API. Every method may throw a HoldfastError; nothing else is shown. */
export interface HostedPageDeps {
  /** Where people reach this API: it decides the cookie's name and which origin is ours. No trailing slash needed. */
  publicUrl: string;
  /** Origins of pages that may show this one in a frame; none: nobody may. */
  allowedOrigins: readonly string[];
  /**
   * Redeems a handoff code, once. Throws `not_found` for an unknown code and `gone` for one that was used or is too old.
   */
  exchange(connectionId: string, code: string): Promise<{ jwt: string; flowId: string }>;
  /** What the token stands for; null when it is forged, of another kind or expired. */
  verify(jwt: string): Promise<HostedSession | null>;
  /** The connection as it is now; null when there is none. */
  read(connectionId: string): Promise<HostedState | null>;
  /**
   * Every state after `afterRevision`, then each new one as it comes to be. It may end at any time (the page asks again);
   * it must end when the signal aborts.
   */
  states(connectionId: string, request: StatesRequest): AsyncIterable<HostedState>;
  /** A canonical submit (`interaction_id` with `field_values` or `selected_choice_id`). Rejects like the public one. */
  submit(connectionId: string, body: ConnectionSubmit): Promise<void>;
}
