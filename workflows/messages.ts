import type { ManagedAuthBrowser } from '../contract/connections.ts';
import type { ConnectionDocument, ConnectionSettings } from '../contract/document.ts';
import type { TelemetryRequest } from '../contract/telemetry.ts';

/** Names of workflows: the entity of a connection; its children, the flows that log in with and without a person; deliveries; programs; exports. */
export const WORKFLOWS = {
  connection: 'authConnection',
  login: 'login',
  reauth: 'reauth',
  webhooks: 'deliverWebhooks',
  deploy: 'deployApp',
  invoke: 'invokeAction',
  auditExport: 'exportAuditLog',
} as const;

/** Names of messages. Both `submitInput` messages carry a {@link SubmitInput}; `flow*` and `answer` are between entity and flow. */
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

/** The task queue of workflows and of writes to the store, unless a deployment names another. */
export const TASK_QUEUE = 'holdfast';

/** Who a browser is driven for. Each kind has a task queue of its own, so that a person never waits behind checks. */
export const BROWSER_QUEUES = ['people', 'checks'] as const;
export type BrowserQueue = (typeof BROWSER_QUEUES)[number];

/** The task queue of one kind of browser work, beside the one of the workflows. */
export function browserQueue(taskQueue: string, queue: BrowserQueue): string {
  return `${taskQueue}-${queue}`;
}

/** The task queue of deliveries to webhooks: an endpoint that is slow holds up nobody who logs in. */
export function webhookQueue(taskQueue: string): string {
  return `${taskQueue}-webhooks`;
}

/** The task queue of programs: what they do holds up no login. */
export function appQueue(taskQueue: string): string {
  return `${taskQueue}-apps`;
}

/** The task queue of exports of the audit log: a large object holds up no login. */
export function exportQueue(taskQueue: string): string {
  return `${taskQueue}-exports`;
}

/** Types of the failures a message is refused with; each is a code of contract/errors.ts. */
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

/** What a new connection starts with. */
export interface ConnectionSeed {
  id: string;
  organizationId: string;
  projectId: string;
  settings: ConnectionSettings;
}

/** Every message names the connection it is for: a workflow id is used again after a connection is deleted. */
export interface Addressed {
  connectionId: string;
}

/** `ending`: a connection that was just deleted still closes its browser; ask again in a moment. */
export interface CreateResult {
  outcome: 'created' | 'exists' | 'ending';
  document: ConnectionDocument;
}

/** `loginId` names the request: the same request twice starts one flow. */
export interface LoginRequest extends Addressed {
  loginId: string;
  browser?: ManagedAuthBrowser;
  browserTelemetry?: TelemetryRequest | null;
  recordSession?: boolean;
}

/** An answer to the interaction that waits. Values never travel: `submissionId` names where they are sealed. */
export interface SubmitInput extends Addressed {
  /** Null when only a choice is picked. */
  submissionId: string | null;
  interactionId: string;
  /** Ids of the fields that the sealed submission has values for. */
  fieldIds: string[];
  selectedChoiceId: string | null;
  /** True when nothing is answered because the form is not the right one: the next is shown. */
  wrongForm?: boolean;
}

/** Changed settings; a property that is absent stays, null clears. `credentialChanged`: the attached one holds other values. */
export interface ConfigureRequest extends Addressed {
  changes: { [K in keyof ConnectionSettings]?: ConnectionSettings[K] | null };
  credentialChanged?: boolean;
}

/** What login, submit, configure and check answer: the document as the handler left it. */
export interface Accepted {
  revision: number;
  document: ConnectionDocument;
}

/** What the query answers: the document as the workflow holds it. */
export interface ConnectionView {
  /** True when the connection was deleted: a workflow can be asked after its end, too. */
  removed: boolean;
  document: ConnectionDocument;
}
