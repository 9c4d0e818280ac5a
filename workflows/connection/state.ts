import type { CredentialFacts } from '../../contract/activities.ts';
import { checkNumberAt, type CheckPlace } from '../../contract/check-times.ts';
import type { TimelineEvent } from '../../contract/connections.ts';
import type { ConnectionDocument, FlowState, ReauthMemory } from '../../contract/document.ts';
import type { LoginPlan } from '../../contract/login-plan.ts';
import { assertNever } from '../../contract/assert-never.ts';
import type { FlowEnd } from '../flow/context.ts';
import type { AnswerToFlow } from '../message-definitions.ts';
import type { ConnectionSeed, LoginRequest } from '../messages.ts';
import { codeChannelsOf } from '../policy/code-channels.ts';
import { plansOf } from '../policy/login-plan.ts';
import { evaluateReauthGate, type GateInput } from '../policy/reauth-gate.ts';

/** How many applied submissions are remembered, across continue-as-new too. */
const SUBMISSION_RING = 20;

/** What an entity is started with. */
export interface ConnectionInput {
  /** 1 was that of the entities of 0.1, which ran logins themselves. */
  schemaVersion: 2;
  begin: Beginning;
  /** Tests: the entity continues as new whenever something was recorded, in the middle of flows too. */
  continueAlways?: boolean;
}

/** A new connection; one that goes on after its workflow was ended from outside; or the next run of the same workflow. */
export type Beginning =
  | { how: 'new'; seed: ConnectionSeed }
  | { how: 'again'; document: ConnectionDocument }
  | { how: 'carried'; state: CarriedState };

/** What survives a continue-as-new. Times are absolute, because timers do not survive. */
export interface CarriedState {
  document: ConnectionDocument;
  hadLogin: boolean;
  credential: CredentialFacts | null;
  appliedSubmissions: string[];
  lastLoginId: string | null;
  /** Where the last login found the login page. */
  loginPageUrl: string | null;
  /** Milliseconds since the epoch, null while checks are off. */
  nextCheckAt: number | null;
  /** Its place among all that are checked at this interval; without one, chance sets the times. Absent in runs that began before there were places. */
  checkSlot?: CheckPlace | null;
  /** Timeline events that are not recorded yet, by id. */
  pendingTimeline: [string, TimelineEvent][];
  /** True in runs whose checks may be quick ones. Absent in runs that began before there were any, and in first runs. */
  quickChecks?: true;
  /** True in runs that may leave their checks to a watch. Absent in runs that began before there was one, and in first runs. */
  watches?: true;
  credentialStale: boolean;
  requestedFlow: RequestedFlow | null;
  running: RunningFlow | null;
}

/** A watch that may be making checks, and so writing the row, unseen by the workflow. */
export interface Watch {
  place: CheckPlace;
  /** Number of its first check. */
  firstNumber: number;
  /** Its checks have the revisions after this one. */
  revision: number;
}

/** A flow that callers see already and that runs next. */
export type RequestedFlow =
  | { kind: 'login'; request: LoginRequest; flowId: string }
  | { kind: 'reauth'; flowId: string };

/** A flow whose child runs, or still closes its browser. */
export interface RunningFlow {
  kind: RequestedFlow['kind'];
  /** The id of its workflow, too. */
  flowId: string;
  expiresAt: string;
  /** Set when the entity has ended it. */
  stop: 'CANCELED' | 'EXPIRED' | null;
  /** Set when its workflow has ended. */
  end: FlowEnd | null;
}

/** Everything the entity holds in memory. Handlers and the loops change it; {@link touch} makes a change visible. */
export interface ConnectionState extends Omit<CarriedState, 'pendingTimeline'> {
  pendingTimeline: Map<string, TimelineEvent>;
  /** Revision that this run began with. */
  firstRevision: number;
  /** False until the row is inserted. */
  inserted: boolean;
  existingId: string | null;
  /** Failure code of an insertion or a removal that did not come about. */
  broken: string | null;
  recordedRevision: number;
  /** Revision that a quick check may write by itself: no other state may have it. 0 before the first. */
  quickRevision: number;
  /** A site that was too slow for one is asked at leisure for the rest of the run. */
  tooSlowToAskQuickly: boolean;
  /** Nothing is recorded while it is there. */
  watch: Watch | null;
  recording: boolean;
  startingFlow: boolean;
  /** True while a child that this run has started is open. */
  childOpen: boolean;
  flowsEnded: number;
  /** Answers that were accepted and are on their way to the flow. */
  outbox: AnswerToFlow[];
  /** Id of the health check that was asked for or runs. */
  checking: string | null;
  lastCheckId: string | null;
  /** True while the store is asked for a place in the schedule. */
  takingSlot: boolean;
  removeRequested: boolean;
  removed: boolean;
  /** Grows when something changes that the health timer depends on. */
  timerEpoch: number;
}

/** State of a run that begins. */
export function initialState({ begin }: ConnectionInput, nowIso: string): ConnectionState {
  const carried = carriedInto(begin, nowIso);
  const { revision } = carried.document;
  return {
    ...carried,
    pendingTimeline: new Map(carried.pendingTimeline),
    firstRevision: revision,
    inserted: begin.how !== 'new',
    existingId: null,
    broken: null,
    recordedRevision: begin.how === 'new' ? 0 : revision,
    quickRevision: 0,
    tooSlowToAskQuickly: false,
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

function carriedInto(begin: Beginning, nowIso: string): CarriedState {
  switch (begin.how) {
    case 'carried':
      return begin.state;
    case 'new':
      return freshState(documentOf(begin.seed, nowIso));
    case 'again': {
      // What only the lost workflow knew is learned anew: what the credential holds now, where the login page is.
      const { document } = begin;
      const hadLogin = document.can_reauth_reason !== 'no_prior_successful_login';
      return { ...freshState(document), hadLogin, nextCheckAt: checkAfterLast(document) };
    }
    default:
      return assertNever(begin);
  }
}

/** A check that came due while there was no workflow is made up for at once; null where there was none before. */
function checkAfterLast({ last_auth_check_at: last, settings }: ConnectionDocument): number | null {
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

/** What a continue-as-new hands over. */
export function carriedOf(state: ConnectionState): CarriedState {
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

/** What logins have taught so far. */
export function memoryOf({ reauth }: ConnectionDocument): Omit<ReauthMemory, 'requirements'> & { plans: LoginPlan[] } {
  const { requirements, ...memory } = reauth ?? { refused: null, obstacle: null, backOff: null };
  return {
    ...memory,
    plans: plansOf({ ...memory, requirements }),
    fields: memory.fields ?? requirements?.fields ?? [],
  };
}

/** What the reauth gate looks at. */
export function gateInputOf(state: ConnectionState, document: ConnectionDocument = state.document): GateInput {
  const { refused, refusedCodes = null, obstacle, plans } = memoryOf(document);
  const { hadLogin, credential, credentialStale: isUnread } = state;
  const { credential: reference } = document.settings;
  const codeChannels = codeChannelsOf(document.settings);
  return { hadLogin, reference, credential, isUnread, refused, refusedCodes, obstacle, plans, codeChannels };
}

/** Applies a change to the document: the gate is asked again and the revision grows. */
export function touch(state: ConnectionState, change: Partial<ConnectionDocument>, events: TimelineEvent[] = []): void {
  state.document = documentAfter(state, change);
  for (const event of events) state.pendingTimeline.set(event.id, event);
}

/** The document after a change, under the next revision that is free. */
export function documentAfter(state: ConnectionState, change: Partial<ConnectionDocument>): ConnectionDocument {
  const document = { ...state.document, ...change };
  const verdict = evaluateReauthGate(gateInputOf(state, document));
  return {
    ...document,
    can_reauth: verdict.canReauth,
    can_reauth_reason: verdict.reason,
    revision: Math.max(state.document.revision, state.quickRevision, lastWatched(state)) + 1,
  };
}

/** A revision that no check of the watch has reached, nor will in the next half of an interval. 0 without a watch. */
export function lastWatched({ watch }: ConnectionState): number {
  if (watch === null) return 0;
  return watch.revision + 2 + checkNumberAt(Date.now(), watch.place) - watch.firstNumber;
}

/** Has the health timer start over: an interval from now. */
export function rescheduleCheck(state: ConnectionState): void {
  state.nextCheckAt = null;
  state.timerEpoch += 1;
}

/** Remembers that a submission was applied. */
export function rememberSubmission(state: ConnectionState, submissionId: string): void {
  state.appliedSubmissions = [...state.appliedSubmissions, submissionId].slice(-SUBMISSION_RING);
}

/** The timeline's event of a flow: one per flow, updated as it goes. */
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
