import type { ConnectionDocument } from '../contract/document.ts';
import type {
  Accepted,
  ConfigureRequest,
  ConnectionSeed,
  CreateResult,
  LoginRequest,
  SubmitInput,
} from '../workflows/messages.ts';

/** Overrides for one login. The same `loginId` twice starts one flow; generated if absent. */
export type LoginOptions = Partial<Omit<LoginRequest, 'connectionId'>>;

/** A typed client of all connections. Throws HoldfastErrors of contract/errors.ts, among them retriable `unavailable`. */
export interface ConnectionsClient {
  /** Creates the connection, or finds the one with the same project, profile and domain (`outcome: 'exists'`). */
  create(seed: Omit<ConnectionSeed, 'id'>): Promise<CreateResult>;
  /** Starts a login flow. Throws `flow_in_progress` while another one is running. */
  login(connectionId: string, options?: LoginOptions): Promise<Accepted>;
  /** Answers the pending interaction; resolves once the workflow has accepted it. */
  submit(connectionId: string, input: Omit<SubmitInput, 'connectionId'>): Promise<Accepted>;
  /** The same as a signal, without waiting: a rejected answer is ignored. */
  submitBySignal(connectionId: string, input: Omit<SubmitInput, 'connectionId'>): Promise<void>;
  /** Changes settings. */
  configure(connectionId: string, changes: ConfigureRequest['changes']): Promise<Accepted>;
  /** Tells a connection that its credential has new values, which it then reads again. */
  credentialChanged(connectionId: string): Promise<Accepted>;
  /** Runs a health check; null if it is still running after a minute. Throws `check_in_progress`. */
  check(connectionId: string): Promise<Accepted | null>;
  /** Ends the workflow: cancels a running flow and closes its browser. Resolves when the row is gone. */
  remove(connectionId: string): Promise<void>;
  /** Restarts a connection whose workflow was terminated externally; needs `findDocument`. False if there is none. */
  revive(connectionId: string): Promise<boolean>;
  /** The document as the workflow holds it; needs a worker. Reads that must not need one go to the store. */
  read(connectionId: string): Promise<ConnectionDocument>;
  /** The states of the current flow until it ends or `signal` aborts; skips short-lived ones, never the newest. */
  follow(connectionId: string, options?: { signal?: AbortSignal }): AsyncIterable<ConnectionDocument>;
}
