import type { ManagedAuthBrowser } from '../contract/connections.ts';
import type { ConnectionDocument, ConnectionSettings } from '../contract/document.ts';
import type { TelemetryRequest } from '../contract/telemetry.ts';

/** Workflow types: the entity of a connection, its child flows with and without a person, deliveries, programs and exports. */
export const WORKFLOWS = {
  connection: 'authConnection',
  login: 'login',
  reauth: 'reauth',
  webhooks: 'deliverWebhooks',
  deploy: 'deployApp',
  invoke: 'invokeAction',
  auditExport: 'exportAuditLog',
} as const;

/** Message names. Both `submitInput` messages carry a {@link SubmitInput}; `flow*` and `answer` go between entity and flow. */
export const UPDATES = {
  create: 'create',
  login: 'login',
  submitInput: 'submitInput',
  configure: 'configure',
  check: 'check',
  remove: 'remove',
} as const;
export const SIGNALS = {
  submitInput: 'submitInputSignal',
  flowProgress: 'flowProgress',
  flowWithdraws: 'flowWithdraws',
  flowEnded: 'flowEnded',
  answer: 'answer',
  webhookWoken: 'webhookWoken',
  exportWoken: 'exportWoken',
} as const;
export const QUERIES = { document: 'document' } as const;

/** The default task queue of workflows and of store writes. */
export const TASK_QUEUE = 'holdfast';

/** Kinds of browser work, each with its own task queue, so that a person never waits behind checks. */
export const BROWSER_QUEUES = ['people', 'checks'] as const;
export type BrowserQueue = (typeof BROWSER_QUEUES)[number];

/** The task queue of one kind of browser work. */
export function browserQueue(taskQueue: string, queue: BrowserQueue): string {
  return `${taskQueue}-${queue}`;
}

/** The task queue of webhook deliveries: a slow endpoint delays no login. */
export function webhookQueue(taskQueue: string): string {
  return `${taskQueue}-webhooks`;
}

/** The task queue of programs, which delay no login. */
export function appQueue(taskQueue: string): string {
  return `${taskQueue}-apps`;
}

/** The task queue of audit log exports: a large object delays no login. */
export function exportQueue(taskQueue: string): string {
  return `${taskQueue}-exports`;
}

/** Failure types of rejected messages; each is a code of contract/errors.ts. */
export type RefusalCode =
  | 'not_found'
  | 'stale_interaction'
  | 'unknown_field'
  | 'unknown_choice'
  | 'missing_field'
  | 'invalid_input'
  | 'not_awaiting_input'
  | 'flow_in_progress'
  | 'check_in_progress'
  | 'limit_reached'
  | 'internal_error';

/** The input of a new connection. */
export interface ConnectionSeed {
  id: string;
  organizationId: string;
  projectId: string;
  settings: ConnectionSettings;
}

/** Every message names its connection, because a workflow id is reused after a connection is deleted. */
export interface Addressed {
  connectionId: string;
}

/** `ending`: a connection that was just deleted is still closing its browser; try again in a moment. */
export interface CreateResult {
  outcome: 'created' | 'exists' | 'ending';
  document: ConnectionDocument;
}

/** `loginId` identifies the request: the same request sent twice starts one flow. */
export interface LoginRequest extends Addressed {
  loginId: string;
  browser?: ManagedAuthBrowser;
  browserTelemetry?: TelemetryRequest | null;
  recordSession?: boolean;
}

/** An answer to the pending interaction. Values never travel: `submissionId` names where they are sealed. */
export interface SubmitInput extends Addressed {
  /** Null if only a choice is picked. */
  submissionId: string | null;
  interactionId: string;
  /** Ids of the fields that the sealed submission has values for. */
  fieldIds: string[];
  selectedChoiceId: string | null;
  /** True if the form is the wrong one and is not answered: the next is shown. */
  wrongForm?: boolean;
}

/** Changed settings: an absent property is kept, null clears it. `credentialChanged`: the attached credential has new values. */
export interface ConfigureRequest extends Addressed {
  changes: { [K in keyof ConnectionSettings]?: ConnectionSettings[K] | null };
  credentialChanged?: boolean;
}

/** The result of login, submit, configure and check: the document after the handler. */
export interface Accepted {
  revision: number;
  document: ConnectionDocument;
}

/** The result of the query: the document as the workflow holds it. */
export interface ConnectionView {
  /** True if the connection was deleted: a closed workflow still answers queries. */
  removed: boolean;
  document: ConnectionDocument;
}
