import type { CheckMethod, CredentialReference, FlowErrorCode, ManagedAuthBrowser } from './connections.ts';
import type { CredentialProviderFault } from './credential-provider-faults.ts';
import type { ConnectionDocument, ConnectionRecord, KnownAccount, RequestCheck } from './document.ts';
import type { ProxyFault } from './proxies.ts';
import type { FormChoice, PageKind, PageReading, ReadChoice, ReadField } from './reading.ts';

/** Identifies a connection's row. Opaque ids only. */
export interface ConnectionAddress {
  connectionId: string;
  organizationId: string;
  projectId: string;
}

/** Where a login may go and what it is for. */
export interface LoginTarget extends ConnectionAddress {
  domain: string;
  profileName: string;
  loginUrl: string | null;
  /** Where the last login landed: a health check looks there first. */
  postLoginUrl: string | null;
  /** Where the last login found the login page. Absent before that, and in older histories. */
  loginPageUrl?: string;
  /** Empty: a credential may be typed on any site the flow leads to. */
  allowedDomains: string[];
  browser: ManagedAuthBrowser | null;
  /** Name of the attached credential, or null. */
  credentialName: string | null;
  /** The attached item of an external secret store. Absent without one, and in older histories. */
  externalCredential?: Pick<CredentialReference, 'provider' | 'path' | 'auto'>;
  /** The account of earlier logins. Absent if unknown, and in older histories. */
  account?: KnownAccount;
  /** A person's correction of which form is the login. Absent without one. */
  forms?: FormChoice;
  /** The request that can replace a browser check; null if there is none. Absent until one was looked for. */
  requestCheck?: RequestCheck | null;
  /** Whether its browser sessions are recorded. Absent in older histories. */
  recordSession?: boolean;
}

/** What is known about the attached credential: names of values, never a value. */
export interface CredentialFacts {
  id: string;
  /** Grows when a value changes: a refused password is only tried again under a new version. */
  version: number;
  valueKeys: string[];
  hasTotpSecret: boolean;
  /** Whether it holds a passkey (within an observation: one for the page's site). Absent without one. */
  hasPasskey?: boolean;
  /** True for an item of an external secret store to which a new passkey can be written. Absent reads as false. */
  takesPasskeys?: boolean;
  ssoProvider: string | null;
}

/** Telemetry and recording of a browser session. All absent in older histories. */
interface SessionCapture {
  telemetryCaptured?: boolean;
  /** Its recording; null if there is none. */
  replayId?: string | null;
  /** Why there is none although one was requested. */
  replayError?: string | null;
}

/** A running browser session of a flow. */
export interface FlowSession extends SessionCapture {
  sessionId: string;
  liveViewUrl: string | null;
}

/** A reading of a page, with what the attached credential can answer at that moment. */
export interface Observation {
  reading: PageReading;
  credential: CredentialFacts | null;
  /** The captcha in front of the site can be given to a solver. Absent without one, and without a solver. */
  solvable?: true;
  /** A visible captcha beside the fields of a form is unanswered. Absent without one. */
  unproved?: true;
  /** What the pictures show whose characters the fields ask for, as data URLs by the field's name. Absent without one. */
  pictures?: Record<string, string>;
}

/** A task at a captcha solver, by the solver's id. */
export interface SolverTask {
  id: string | number;
}

export interface TakeSolutionInput {
  target: LoginTarget;
  sessionId: string;
  task: SolverTask;
  /** The last poll: a task that is not done by now has timed out. */
  isLast: boolean;
}

/** Progress of a solver; `answered`: its answer was put into the page, which now shows this. */
export type SolutionOutcome = { state: 'waiting' | 'failed' } | { state: 'answered'; observation: Observation };

/** Where the value of a field comes from. */
export type ValueSource =
  | { kind: 'submission'; fieldId: string }
  | { kind: 'credential'; key: string }
  | { kind: 'totp' }
  /** The first code of the new authenticator on the page; its secret is kept for the credential. */
  | { kind: 'enrolment' };

/** One field to type into. `ref` is the name of its value in the credential that a successful login is saved to. */
export interface FieldEntry {
  field: ReadField;
  ref: string;
  source: ValueSource;
}

/** One answer: fields to type and a button to press, or a choice to click. */
export interface Answer {
  entries: FieldEntry[];
  submit: PageReading['submit'];
  choice: ReadChoice | null;
}

/** A session of a flow. */
interface SessionInput {
  target: LoginTarget;
  flowId: string;
  sessionId: string;
}

export interface EnterInput extends SessionInput {
  /** Id of this entry in the ledger: it is typed at most once. */
  entryId: string;
  answer: Answer;
  submissionId: string | null;
  credentialId: string | null;
  /** Id of the sealed values typed earlier in this flow, which are saved once the login succeeds. */
  keptId: string | null;
  keepUntil: string;
}

/** Outcome of an entry. `keptId` replaces the earlier one. */
export interface EnterOutcome extends Observation {
  keptId: string | null;
}

export interface OpenLinkInput extends SessionInput {
  /** Id of this entry in the ledger: the link is opened at most once. */
  entryId: string;
  /** Where the link is sealed. */
  submissionId: string;
  /** The kind of the page that waits for it. */
  from: PageKind;
}

/** How far a lost entry got: nothing was typed, something was, or the button was pressed too. */
export type EntryReach = 'nothing' | 'keys' | 'press';

export interface FinishInput extends SessionInput {
  keptId: string | null;
  saveCredentials: boolean;
  /** The chosen provider and the address of the page that offered it. Absent in older histories. */
  provider?: ChosenProvider | null;
  /** The profile was already logged in and needs no verification. Absent in older histories. */
  wasLoggedIn?: boolean;
  /** False if the site rejected the code of a new authenticator: its secret is not saved. Absent reads as true. */
  keepsAuthenticator?: boolean;
}

/** An identity provider chosen in a flow. */
export interface ChosenProvider {
  provider: string;
  at: string;
}

/** `credentialName` is the credential that the typed values were saved to, if any. */
export interface FinishOutcome {
  postLoginUrl: string;
  credentialName: string | null;
  credential: CredentialFacts | null;
  /** The account named on the page; null if none is. Absent in older histories. */
  account?: KnownAccount | null;
}

/** Outcome of a health check; `inconclusive` if the site is down or its response is unusable. */
export interface HealthOutcome extends SessionCapture {
  outcome: 'authenticated' | 'expired' | 'inconclusive';
  /** The browser session of the check. Absent in older histories. */
  browserSessionId?: string;
  /** How the check was made and decided. Absent in older histories. */
  check?: CheckMethod;
  /** The request to check with from now on; null if none works. Absent if nothing was learned. */
  requestCheck?: RequestCheck | null;
  /** Why it is not `authenticated`, for the timeline. */
  errorCode: FlowErrorCode | null;
  credential: CredentialFacts | null;
}

/**
 * Failure types of activities, besides timeouts. `session_gone`: the browser session has ended, the flow starts over.
 * `project_gone`: archived or deleted. `limit_reached`: the organization has its maximum of connections. `domain_not_allowed`:
 * a field is on a site that must not be typed into. `entry_uncertain`: the entry was claimed and its outcome is unknown; read
 * the page, never type again. `captcha_unanswered`: a captcha beside the fields is unanswered and nothing was sent; the same
 * entry may be retried once it is. `address_refused`: the egress rules forbid the login page's address.
 * `session_not_persistent`: the login was gone when its saved profile was reopened. `account_mismatch`: the page names another
 * account than after earlier logins. `service_unavailable`: the browser service or the store is down or full; worth retrying.
 */
export type ActivityFailure =
  | 'session_gone'
  | 'project_gone'
  | 'limit_reached'
  | 'domain_not_allowed'
  | 'address_refused'
  | 'entry_uncertain'
  | 'captcha_unanswered'
  | 'submission_gone'
  | 'session_not_persistent'
  | 'account_mismatch'
  | 'element_not_found'
  | 'network_error'
  | 'service_unavailable'
  | 'browser_error'
  | 'internal_error'
  | CredentialProviderFault
  | ProxyFailure;

/** Permanent failures of the connection's proxy: it no longer exists, or has a {@link ProxyFault} that affects every site. */
export type ProxyFailure = 'proxy_unknown' | `proxy_${Exclude<ProxyFault, 'target_unreached'>}`;

/** Activities that need a browser. They heartbeat, stop on cancellation and return no secret. All are retriable. */
export interface LoginActivities {
  /** Opens (or finds, by `attempt`) the flow's browser session on its profile. */
  openSession(input: { target: LoginTarget; flowId: string; attempt: number }): Promise<FlowSession>;
  /** Navigates the session to the login page and reads it. */
  discoverLogin(input: { target: LoginTarget; sessionId: string }): Promise<Observation>;
  /**
   * Reads the page as it is. With `submitted`, a slow site is given time to respond to a lost entry; with `reopen`, the page's URL is
   * opened first, because a worker that was lost while typing has left its key lock in the document.
   */
  readPage(input: {
    target: LoginTarget;
    sessionId: string;
    submitted: boolean;
    reopen?: boolean;
  }): Promise<Observation>;
  /**
   * Types and presses, then reads the next page. At most once: it claims the entry first, and a retry that finds it claimed
   * ends with `entry_uncertain`. With `captcha_unanswered` nothing was sent, no claim is kept and the submission still exists.
   */
  enterAnswer(input: EnterInput): Promise<EnterOutcome>;
  /** Opens a mailed sign-in link in the session and reads the page it leads to. At most once, like `enterAnswer`. */
  openLink(input: OpenLinkInput): Promise<Observation>;
  /** Gives the page's captcha to the operator's solver; null if it is not taken. The task of a lost attempt is abandoned. */
  askSolver(input: { target: LoginTarget; sessionId: string }): Promise<SolverTask | null>;
  /** Polls the solver once. A solution is put into the page, never into the result, and the page is read again. */
  takeSolution(input: TakeSolutionInput): Promise<SolutionOutcome>;
  /**
   * Saves the session to the profile and ends it, verifies that the reopened profile is logged in, then saves the values to
   * the credential. Fails with `session_not_persistent`, or with `account_mismatch` before anything is saved.
   */
  finishLogin(input: FinishInput): Promise<FinishOutcome>;
  /** Ends the session without saving and destroys the kept values. Succeeds if the session is already gone. */
  abandonLogin(input: { target: LoginTarget; sessionId: string | null; keptId: string | null }): Promise<void>;
  /** Checks whether the profile is logged in, by the known request or else in a browser, and saves refreshed cookies. */
  checkHealth(input: { target: LoginTarget; checkId: string }): Promise<HealthOutcome>;
}

/** Activities that only use the store. All are retriable. */
export interface RecordActivities {
  /** Inserts a new row; `existingId` if there already is one. Fails with `project_gone` or `limit_reached`. */
  insertConnection(document: ConnectionDocument): Promise<{ existingId: string | null }>;
  /** Writes a document if it is newer than the stored one. */
  recordConnection(record: ConnectionRecord): Promise<void>;
  /** Ends a lost entry and destroys its submission. Returns how far it got, and the kept values. */
  abandonEntry(input: {
    connectionId: string;
    flowId: string;
    entryId: string;
    submissionId: string | null;
  }): Promise<{ reach: EntryReach; keptId: string | null }>;
  /** What the attached credential can answer now, or null. */
  readCredential(input: {
    organizationId: string;
    projectId: string;
    credentialName: string | null;
  }): Promise<CredentialFacts | null>;
  /** The connection's stable slot among all with this interval; another interval frees it. Null if it is gone. */
  takeCheckSlot(input: { connectionId: string; intervalSeconds: number }): Promise<{ slot: number | null }>;
  /** The state of a row that others may have written; null if it is gone. */
  readRecorded(input: { connectionId: string }): Promise<{ revision: number; lastCheckAt: string | null } | null>;
  /** Removes the connection with everything that belongs to it. */
  removeConnection(address: ConnectionAddress): Promise<void>;
}
