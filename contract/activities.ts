import type { CheckMethod, CredentialReference, FlowErrorCode, ManagedAuthBrowser } from './connections.ts';
import type { CredentialProviderFault } from './credential-provider-faults.ts';
import type { ConnectionDocument, ConnectionRecord, KnownAccount, RequestCheck } from './document.ts';
import type { ProxyFault } from './proxies.ts';
import type { FormChoice, PageKind, PageReading, ReadChoice, ReadField } from './reading.ts';

/** Which connection, in which project: what every activity needs to find its row. Opaque ids only. */
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
  /** Where the last login found the login page. Absent before that, and in histories that are older than it. */
  loginPageUrl?: string;
  /** Empty: a credential may be typed on any site the flow leads to. */
  allowedDomains: string[];
  browser: ManagedAuthBrowser | null;
  /** Name of the attached credential, or null. */
  credentialName: string | null;
  /** The attached item of an external secret store. Absent without one, and in histories that are older than it. */
  externalCredential?: Pick<CredentialReference, 'provider' | 'path' | 'auto'>;
  /** The account that earlier logins led to. Absent where none is known, and in histories that are older than it. */
  account?: KnownAccount;
  /** What a person has said of the forms that earlier readings took. Absent where nobody has. */
  forms?: FormChoice;
  /** The request that may check in a browser's place; null when none does. Absent until one was looked for. */
  requestCheck?: RequestCheck | null;
  /** Whether its browser sessions are recorded. Absent in histories that are older than it. */
  recordSession?: boolean;
}

/** What is known of the attached credential: names of values, never a value. */
export interface CredentialFacts {
  id: string;
  /** Grows when a value changes: a refused password may be tried again only under a new version. */
  version: number;
  valueKeys: string[];
  hasTotpSecret: boolean;
  /** Whether it holds a passkey; of a page, one that the page's site takes. Absent without one. */
  hasPasskey?: boolean;
  /** True for an item of an external secret store that a new passkey can be written to. Absent reads as false. */
  takesPasskeys?: boolean;
  ssoProvider: string | null;
}

/** A running browser session of a flow. */
export interface FlowSession {
  sessionId: string;
  liveViewUrl: string | null;
  /** Whether telemetry of it is captured. Absent in histories that are older than it. */
  telemetryCaptured?: boolean;
  /** Its recording; null when there is none. Absent in histories that are older than it. */
  replayId?: string | null;
  /** Why there is none though one was asked for. Absent in histories that are older than it. */
  replayError?: string | null;
}

/** A page as it was read, with what the attached credential can answer at that moment. */
export interface Observation {
  reading: PageReading;
  credential: CredentialFacts | null;
  /** The captcha that stands in the way is one that a solver may be asked about. Absent without one, and without a solver. */
  solvable?: true;
  /** A captcha beside the fields of a form can be seen and has no answer yet. Absent where there is none. */
  unproved?: true;
}

/** A task that a captcha solver has taken, by the solver's own name. */
export interface SolverTask {
  id: string | number;
}

export interface TakeSolutionInput {
  target: LoginTarget;
  sessionId: string;
  task: SolverTask;
  /** Nobody asks again: a task that is not done by now has taken too long. */
  isLast: boolean;
}

/** How far a solver is; `answered`: the page has its answer, and shows this. */
export type SolutionOutcome = { state: 'waiting' | 'failed' } | { state: 'answered'; observation: Observation };

/** Where the value of one field comes from. */
export type ValueSource =
  | { kind: 'submission'; fieldId: string }
  | { kind: 'credential'; key: string }
  | { kind: 'totp' }
  /** The first code of the new authenticator that the page shows; its secret is kept for the credential. */
  | { kind: 'enrolment' };

/** One field to type into. `ref` names the value in the credential that a good login is saved to. */
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

export interface EnterInput {
  target: LoginTarget;
  flowId: string;
  sessionId: string;
  /** Names this entering in the ledger: it is typed at most once. */
  entryId: string;
  answer: Answer;
  submissionId: string | null;
  credentialId: string | null;
  /** Where values typed earlier in this flow are kept, sealed, until the login proves good. */
  keptId: string | null;
  keepUntil: string;
}

/** How an entering ended. `keptId` replaces the earlier one. */
export interface EnterOutcome extends Observation {
  keptId: string | null;
}

export interface OpenLinkInput {
  target: LoginTarget;
  flowId: string;
  sessionId: string;
  /** Names this opening in the ledger: it is done at most once. */
  entryId: string;
  /** Where the link lies, sealed. */
  submissionId: string;
  /** What the page is that waits for it. */
  from: PageKind;
}

/** How far an entering had come when it was lost: nothing was typed, something was, or the button was pressed too. */
export type EntryReach = 'nothing' | 'keys' | 'press';

export interface FinishInput {
  target: LoginTarget;
  flowId: string;
  sessionId: string;
  keptId: string | null;
  saveCredentials: boolean;
  /** The provider that was chosen, and the address of the page that offered it. Absent in histories that are older than it. */
  provider?: ChosenProvider | null;
  /** The profile was logged in as it was opened: it needs no proof. Absent in histories that are older than it. */
  wasLoggedIn?: boolean;
  /** False when the site refused the code of a new authenticator: its secret is not saved. Absent reads as true. */
  keepsAuthenticator?: boolean;
}

/** An identity provider that a flow has taken. */
export interface ChosenProvider {
  provider: string;
  at: string;
}

/** `credentialName` is the credential that the typed values were saved to, when they were. */
export interface FinishOutcome {
  postLoginUrl: string;
  credentialName: string | null;
  credential: CredentialFacts | null;
  /** The account that the page names; null when it names none. Absent in histories that are older than it. */
  account?: KnownAccount | null;
}

/** Outcome of a health check; `inconclusive` when the site is down or answers nonsense. */
export interface HealthOutcome {
  outcome: 'authenticated' | 'expired' | 'inconclusive';
  /** The session it looked through. Absent in histories that are older than it. */
  browserSessionId?: string;
  /** How it was looked, and what decided. Absent in histories that are older than it. */
  check?: CheckMethod;
  /** The request to check by from now on; null when none tells. Absent when nothing was learned. */
  requestCheck?: RequestCheck | null;
  /** Why, for the timeline, when it is not `authenticated`. */
  errorCode: FlowErrorCode | null;
  /** Whether telemetry of its browser session was captured. Absent in histories that are older than it. */
  telemetryCaptured?: boolean;
  /** Its recording; null when there is none. Absent in histories that are older than it. */
  replayId?: string | null;
  /** Why there is none though one was asked for. Absent in histories that are older than it. */
  replayError?: string | null;
  credential: CredentialFacts | null;
}

/**
 * Failure types that activities end with, beside time-outs: `session_gone` (the browser session is not there any more:
 * the flow starts over), `project_gone` (it was archived or deleted), `limit_reached` (the organization has as many connections as it may have), `domain_not_allowed` (a field sits on a site that may not be typed into), `entry_uncertain`
 * (typing was claimed and its outcome is unknown: read the page, never type again), `captcha_unanswered` (a captcha beside the fields
 * has no answer: nothing went to the site, and the same entering may be tried again once it has), `element_not_found`,
 * `address_refused` (the login page lies where the egress rules let nobody go), `session_not_persistent` (a good login is
 * gone when its saved profile is opened again), `account_mismatch` (the page names another account than it did after earlier logins), `network_error`, `service_unavailable` (the browser service or the store is down or full: worth waiting for), `browser_error`,
 * `internal_error`, those of {@link ProxyFailure}, and those of {@link CredentialProviderFault}.
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

/**
 * Failures of the connection's proxy, which another try cannot mend: it is not there any more, or a {@link ProxyFault} that
 * holds for every site.
 */
export type ProxyFailure = 'proxy_unknown' | `proxy_${Exclude<ProxyFault, 'target_unreached'>}`;

/** Activities that need a browser. They heartbeat, stop on cancellation, and return no secret. */
export interface LoginActivities {
  /** Opens (or finds, by `attempt`) the flow's browser session on its profile. May be retried. */
  openSession(input: { target: LoginTarget; flowId: string; attempt: number }): Promise<FlowSession>;
  /** Leads the session to the login page and reads it. May be retried. */
  discoverLogin(input: { target: LoginTarget; sessionId: string }): Promise<Observation>;
  /**
   * Reads the page as it is. With `submitted` (an answer was sent to the site, and who waited for its outcome is gone)
   * the site is given the time that a slow answer takes. May be retried.
   */
  readPage(input: { target: LoginTarget; sessionId: string; submitted: boolean }): Promise<Observation>;
  /**
   * Types and presses, then reads the next page. At most once: what it types is claimed first, and a try that finds it
   * claimed ends with `entry_uncertain`. Hence it may be retried. With `captcha_unanswered` it has sent nothing, keeps no claim, and
   * the submission is still there.
   */
  enterAnswer(input: EnterInput): Promise<EnterOutcome>;
  /**
   * Opens a mailed sign-in link in the session and reads the page that goes on. At most once, as `enterAnswer` is; hence it may be
   * retried.
   */
  openLink(input: OpenLinkInput): Promise<Observation>;
  /** Has the operator's captcha solver begin with the page's captcha; null where it does not. May be retried: a task of a lost try is left. */
  askSolver(input: { target: LoginTarget; sessionId: string }): Promise<SolverTask | null>;
  /**
   * Looks once how far the solver is. What it has found is put into the page, and is in no result; the page is read again. May be
   * retried.
   */
  takeSolution(input: TakeSolutionInput): Promise<SolutionOutcome>;
  /**
   * Saves the session to the profile and ends it; opens the profile afresh to see that it is logged in; then saves the values
   * to the credential. Fails with `session_not_persistent` when the login did not last, and with `account_mismatch` before anything is saved. May be
   * retried.
   */
  finishLogin(input: FinishInput): Promise<FinishOutcome>;
  /** Ends the session without saving and destroys what was kept. May be retried; done when the session is gone. */
  abandonLogin(input: { target: LoginTarget; sessionId: string | null; keptId: string | null }): Promise<void>;
  /**
   * Looks whether the profile is logged in, by the request that is known to tell, else in a browser, and saves what the site
   * refreshed. May be retried.
   */
  checkHealth(input: { target: LoginTarget; checkId: string }): Promise<HealthOutcome>;
}

/** Activities that only touch the store. All may be retried. */
export interface RecordActivities {
  /** Inserts the row of a new connection; `existingId` when its place is taken. `project_gone` when it has no project any more, `limit_reached` when it is one too many. */
  insertConnection(document: ConnectionDocument): Promise<{ existingId: string | null }>;
  /** Writes a document that is newer than the stored one. */
  recordConnection(record: ConnectionRecord): Promise<void>;
  /**
   * Ends an entering that was lost: nobody types for it any more, and its submission is destroyed. Answers how far it
   * came, and where it has kept values for the credential (null when it has not).
   */
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
  /**
   * The connection's place among all that are checked at this interval, the same whenever it is asked; with another interval
   * it gives up the one that it had. Null when the connection is gone.
   */
  takeCheckSlot(input: { connectionId: string; intervalSeconds: number }): Promise<{ slot: number | null }>;
  /** How far the row has come, for whoever has not written it alone; null when it is gone. */
  readRecorded(input: { connectionId: string }): Promise<{ revision: number; lastCheckAt: string | null } | null>;
  /** Removes the connection with everything that belongs to it. */
  removeConnection(address: ConnectionAddress): Promise<void>;
}
