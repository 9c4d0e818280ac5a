import type { ManagedAuthBrowser } from '../contract/connections.ts';
import type { ConnectionDocument } from '../contract/document.ts';
import type { TelemetryRequest } from '../contract/telemetry.ts';
import type { Accepted, ConfigureRequest, ConnectionSeed, CreateResult, SubmitInput } from '../workflows/messages.ts';

/** What a login request may override, for that flow alone. */
export interface LoginOptions {
  /** Names the request; the same id twice starts one flow. Made up when absent. */
  loginId?: string;
  browser?: ManagedAuthBrowser;
  browserTelemetry?: TelemetryRequest | null;
  recordSession?: boolean;
}

/**
 * The workflows of all connections, typed, for anyone who holds a Temporal client.
 * Every method throws a HoldfastError whose code is in contract/errors.ts: `not_found` for a connection that is not
 * there, the refusals of workflows/messages.ts, and `unavailable` when no worker answers in time (may be tried again).
 */
export interface ConnectionsClient {
  /** Creates the connection, or finds the one that holds the same project, profile and domain (`outcome: 'exists'`). */
  create(seed: Omit<ConnectionSeed, 'id'>): Promise<CreateResult>;
  /** Starts a login flow. `flow_in_progress` when one that has not expired runs. */
  login(connectionId: string, options?: LoginOptions): Promise<Accepted>;
  /** Answers the interaction that waits; resolves when the workflow has accepted it, or throws its refusal. */
  submit(connectionId: string, input: Omit<SubmitInput, 'connectionId'>): Promise<Accepted>;
  /** The same as a signal: not waited for; a refused answer is ignored and the state tells. */
  submitBySignal(connectionId: string, input: Omit<SubmitInput, 'connectionId'>): Promise<void>;
  /** Changes settings. */
  configure(connectionId: string, changes: ConfigureRequest['changes']): Promise<Accepted>;
  /** Tells a connection that its credential holds other values: what it can answer is read again. */
  credentialChanged(connectionId: string): Promise<Accepted>;
  /** Runs a health check now and answers its outcome; null when it still runs after a minute. `check_in_progress` when one runs. */
  check(connectionId: string): Promise<Accepted | null>;
  /** Ends the workflow: cancels a running flow and closes its browser. Done when the row is gone. */
  remove(connectionId: string): Promise<void>;
  /**
   * Has a connection go on whose workflow was ended from outside (Temporal's UI, a lost server): true when it was, false when
   * it runs or was deleted. Changes nothing without `findDocument`.
   */
  revive(connectionId: string): Promise<boolean>;
  /** The document as the workflow holds it; needs a worker. Reads that must not need one go to the store. */
  read(connectionId: string): Promise<ConnectionDocument>;
  /**
   * The states of the current flow as they happen, until the flow ends or `signal` aborts. It waits for events of the
   * workflow by a long poll, which costs the workflow nothing: a state that lasted for moments may be skipped, the newest
   * never is.
   */
  follow(connectionId: string, options?: { signal?: AbortSignal }): AsyncIterable<ConnectionDocument>;
}
