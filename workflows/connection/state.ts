import type { CredentialFacts } from '../../contract/activities.ts';
import { checkNumberAt, type CheckSlot } from '../../contract/check-times.ts';
import type { TimelineEvent } from '../../contract/connections.ts';
import type { ConnectionDocument, FlowState, ReauthMemory } from '../../contract/document.ts';
import type { LoginPlan } from '../../contract/login-plan.ts';
import { assertNever } from '../../contract/assert-never.ts';
import type { FlowEnd } from '../flow/context.ts';
import type { AnswerToFlow } from '../message-definitions.ts';
import type { ConnectionSeed, LoginRequest } from '../messages.ts';
import { plansOf } from '../policy/login-plan.ts';
import { codeChannelsOf, evaluateReauthGate, type GateInput } from '../policy/reauth-gate.ts';

/** How many applied submissions are remembered, across continue-as-new too. */
const MAX_REMEMBERED_SUBMISSIONS = 20;

/** What an entity is started with. */
export interface ConnectionInput {
  /** 1 was used by the entities of 0.1, which ran logins themselves. */
  schemaVersion: 2;
  begin: StartMode;
  /** Tests only: the entity continues as new whenever something was recorded, also during flows. */
  continueAlways?: boolean;
}

/** A new connection; one restarted after its workflow was terminated externally; or the next run of the same workflow. */
export type StartMode =
  | { how: 'new'; seed: ConnectionSeed }
  | { how: 'again'; document: ConnectionDocument }
  | { how: 'carried'; state: CarriedState };

/** What survives a continue-as-new. Times are absolute, because timers do not survive. */
interface CarriedState {
  document: ConnectionDocument;
  hadLogin: boolean;
  credential: CredentialFacts | null;
  appliedSubmissions: string[];
  lastLoginId: string | null;
  /** Where the last login found the login page. */
  loginPageUrl: string | null;
  /** Epoch milliseconds; null while checks are off. */
  nextCheckAt: number | null;
  /** Slot in the check schedule; without one, check times are random. Absent in runs from before slots. */
  checkSlot?: CheckSlot | null;
  /** Timeline events not recorded yet, by id. */
  pendingTimeline: [string, TimelineEvent][];
  /** True in runs that may make quick checks. Absent in runs from before quick checks, and in first runs. */
  quickChecks?: true;
  /** True in runs that may leave their checks to a watch. Absent in runs from before watches, and in first runs. */
  watches?: true;
  credentialStale: boolean;
  requestedFlow: RequestedFlow | null;
  running: RunningFlow | null;
}

/** A watch, whose checks may write the row without the workflow. */
export interface Watch {
  place: CheckSlot;
  /** Number of its first check. */
  firstNumber: number;
  /** Its checks write the revisions after this one. */
  revision: number;
}

/** A flow that callers already see and that runs next. */
export type RequestedFlow =
  | { kind: 'login'; request: LoginRequest; flowId: string }
  | { kind: 'reauth'; flowId: string };

/** A flow whose child is running or still closing its browser. */
export interface RunningFlow {
  kind: RequestedFlow['kind'];
  /** Also the id of its workflow. */
  flowId: string;
  expiresAt: string;
  /** Set when the entity has stopped it. */
  stop: 'CANCELED' | 'EXPIRED' | null;
  /** Set when its workflow has ended. */
  end: FlowEnd | null;
}

/** Everything the entity holds in memory. {@link applyChange} makes a change visible. */
export interface ConnectionState extends Omit<CarriedState, 'pendingTimeline'> {
  pendingTimeline: Map<string, TimelineEvent>;
  /** Revision that this run began with. */
  firstRevision: number;
  /** False until the row is inserted. */
  inserted: boolean;
  existingId: string | null;
  /** Failure code of the insertion or removal that failed. */
  storeFailure: string | null;
  recordedRevision: number;
  /** Revision that a quick check may write by itself: no other change may use it. 0 before the first. */
  quickRevision: number;
  /** The site was too slow for a quick check: none is made for the rest of the run. */
  tooSlowForQuickChecks: boolean;
  /** Nothing is recorded while a watch runs. */
  watch: Watch | null;
  recording: boolean;
  startingFlow: boolean;
  /** True while a child started by this run is open. */
  childOpen: boolean;
  flowsEnded: number;
  /** Accepted answers on their way to the flow. */
  outbox: AnswerToFlow[];
  /** Id of the health check that is requested or running. */
  checking: string | null;
  lastCheckId: string | null;
  /** True while a slot in the check schedule is being requested. */
  takingSlot: boolean;
  removeRequested: boolean;
  removed: boolean;
  /** Incremented when something the health timer depends on changes. */
  timerEpoch: number;
}

/** State at the start of a run. */
export function initialState({ begin }: ConnectionInput, nowIso: string): ConnectionState {
  const carried = startingState(begin, nowIso);
  const { revision } = carried.document;
  return {
    ...carried,
    pendingTimeline: new Map(carried.pendingTimeline),
    firstRevision: revision,
    inserted: begin.how !== 'new',
    existingId: null,
    storeFailure: null,
    recordedRevision: begin.how === 'new' ? 0 : revision,
    quickRevision: 0,
    tooSlowForQuickChecks: false,
    watch: null,
    recording: false,
    startingFlow: false,
    childOpen: false,
    flowsEnded: 0,
    outbox: [],
    checking: null,
    lastCheckId: null,
    takingSlot: false,
    removeRequested: false,
    removed: false,
    timerEpoch: 0,
  };
}

function startingState(begin: StartMode, nowIso: string): CarriedState {
  switch (begin.how) {
    case 'carried':
      return begin.state;
    case 'new':
      return freshState(documentOf(begin.seed, nowIso));
    case 'again': {
      // What only the lost workflow knew is read again: the credential's facts and the login page.
      const { document } = begin;
      const hadLogin = document.can_reauth_reason !== 'no_prior_successful_login';
      return { ...freshState(document), hadLogin, nextCheckAt: nextCheckAfterLast(document) };
    }
    default:
      return assertNever(begin);
  }
}

/** A check missed while there was no workflow is due at once; null if there was none before. */
function nextCheckAfterLast({ last_auth_check_at: last, settings }: ConnectionDocument): number | null {
  return last === null ? null : Date.parse(last) + settings.health_check_interval * 1000;
}

function documentOf(seed: ConnectionSeed, nowIso: string): ConnectionDocument {
  return {
    schema_version: 1,
    id: seed.id,
    organization_id: seed.organizationId,
    project_id: seed.projectId,
    revision: 1,
    created_at: nowIso,
    settings: seed.settings,
    status: 'NEEDS_AUTH',
    post_login_url: null,
    can_reauth: false,
    can_reauth_reason: 'no_prior_successful_login',
    last_auth_check_at: null,
    flow: null,
  };
}

function freshState(document: ConnectionDocument): CarriedState {
  return {
    document,
    hadLogin: false,
    credential: null,
    appliedSubmissions: [],
    lastLoginId: null,
    loginPageUrl: null,
    nextCheckAt: null,
    pendingTimeline: [],
    credentialStale: document.settings.credential !== undefined,
    requestedFlow: null,
    running: null,
  };
}

/** What a continue-as-new carries over. */
export function carriedState(state: ConnectionState): CarriedState {
  return {
    document: state.document,
    hadLogin: state.hadLogin,
    credential: state.credential,
    appliedSubmissions: state.appliedSubmissions,
    lastLoginId: state.lastLoginId,
    loginPageUrl: state.loginPageUrl,
    nextCheckAt: state.nextCheckAt,
    checkSlot: state.checkSlot ?? null,
    pendingTimeline: [...state.pendingTimeline],
    quickChecks: true,
    watches: true,
    credentialStale: state.credentialStale,
    requestedFlow: state.requestedFlow,
    running: state.running,
  };
}

/** What logins have shown so far about unattended login. */
export function reauthMemory({
  reauth,
}: ConnectionDocument): Omit<ReauthMemory, 'requirements'> & { plans: LoginPlan[] } {
  const { requirements, ...memory } = reauth ?? { refused: null, obstacle: null, backOff: null };
  return {
    ...memory,
    plans: plansOf({ ...memory, requirements }),
    fields: memory.fields ?? requirements?.fields ?? [],
  };
}

/** The input of the reauth gate. */
export function gateInputOf(state: ConnectionState, document: ConnectionDocument = state.document): GateInput {
  const { refused, refusedCodes = null, obstacle, plans } = reauthMemory(document);
  const { hadLogin, credential, credentialStale: isUnread } = state;
  const { credential: reference } = document.settings;
  const codeChannels = codeChannelsOf(document.settings);
  return { hadLogin, reference, credential, isUnread, refused, refusedCodes, obstacle, plans, codeChannels };
}

/** Applies a change to the document: the gate is re-evaluated and the revision grows. */
export function applyChange(
  state: ConnectionState,
  change: Partial<ConnectionDocument>,
  events: TimelineEvent[] = [],
): void {
  state.document = nextDocument(state, change);
  for (const event of events) state.pendingTimeline.set(event.id, event);
}

/** The document after a change, under the next free revision. */
export function nextDocument(state: ConnectionState, change: Partial<ConnectionDocument>): ConnectionDocument {
  const document = { ...state.document, ...change };
  const verdict = evaluateReauthGate(gateInputOf(state, document));
  return {
    ...document,
    can_reauth: verdict.canReauth,
    can_reauth_reason: verdict.reason,
    revision: Math.max(state.document.revision, state.quickRevision, watchedRevision(state)) + 1,
  };
}

/** A revision that no check of the watch has reached, nor will within half an interval. 0 without a watch. */
export function watchedRevision({ watch }: ConnectionState): number {
  if (watch === null) return 0;
  return watch.revision + 2 + checkNumberAt(Date.now(), watch.place) - watch.firstNumber;
}

/** Restarts the health timer: the next check is an interval from now. */
export function rescheduleCheck(state: ConnectionState): void {
  state.nextCheckAt = null;
  state.timerEpoch += 1;
}

/** Remembers that a submission was applied. */
export function rememberSubmission(state: ConnectionState, submissionId: string): void {
  state.appliedSubmissions = [...state.appliedSubmissions, submissionId].slice(-MAX_REMEMBERED_SUBMISSIONS);
}

/** The timeline event of a flow: one per flow, updated as it progresses. */
export function flowEvent(flow: FlowState, nowIso: string): TimelineEvent {
  return {
    id: `evt_${flow.flow_id}`,
    type: flow.flow_type === 'LOGIN' ? 'login' : 'reauth',
    status: flow.flow_status,
    timestamp: flow.started_at,
    updated_at: nowIso,
    flow_id: flow.flow_id,
    step: flow.flow_status === 'EXPIRED' ? 'EXPIRED' : flow.flow_step,
    ...(flow.error_code === null ? {} : { error_code: flow.error_code }),
    ...(flow.error_message === null ? {} : { error_message: flow.error_message }),
    ...(flow.website_error === null ? {} : { website_error: flow.website_error }),
    ...(typeof flow.evidence === 'string' ? { evidence: flow.evidence } : {}),
    ...(flow.passwords_typed === undefined ? {} : { passwords_typed: flow.passwords_typed }),
    ...(flow.steps === undefined ? {} : { steps: flow.steps }),
    ...(flow.browser_session_id === null ? {} : { browser_session_id: flow.browser_session_id }),
    ...(flow.telemetry_captured === true ? { telemetry_captured: true } : {}),
    ...(typeof flow.replay_id === 'string' ? { replay_id: flow.replay_id } : {}),
    ...(typeof flow.replay_error === 'string' ? { replay_error: flow.replay_error } : {}),
  };
}
