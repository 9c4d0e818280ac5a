import type { CredentialFacts, LoginTarget } from '../../contract/activities.ts';
import type { TimelineEvent } from '../../contract/connections.ts';
import type { ConnectionDocument, FlowState } from '../../contract/document.ts';
import type { ConnectionSeed, LoginRequest, SubmitInput } from '../messages.ts';
import type { RefusedCredential } from '../policy/credential-match.ts';
import type { Question } from '../policy/decide.ts';
import { evaluateReauthGate, type LoginRequirements } from '../policy/reauth-gate.ts';

/** How many applied submissions are remembered, across continue-as-new too. */
const SUBMISSION_RING = 20;

/** What an entity is started with; after a continue-as-new `carried` holds everything and `seed` only names it. */
export interface ConnectionInput {
  schemaVersion: 1;
  seed: ConnectionSeed;
  carried: CarriedState | null;
}

/** What survives a continue-as-new. */
export interface CarriedState {
  document: ConnectionDocument;
  hadLogin: boolean;
  credential: CredentialFacts | null;
  refused: RefusedCredential | null;
  requirements: LoginRequirements | null;
  appliedSubmissions: string[];
  lastLoginId: string | null;
  lastCheckId: string | null;
  /** Where the last login found the login page. Absent in histories that are older than it. */
  loginPageUrl?: string;
  /** Absolute, because timers do not survive; milliseconds since the epoch, null while checks are off. */
  nextCheckAt: number | null;
}

/** A flow that callers see already and that runs next. */
export type RequestedFlow =
  { kind: 'login'; request: LoginRequest; flowId: string } | { kind: 'reauth'; flowId: string };

/** A pause of the running flow. */
export interface Pause {
  question: Question;
  interactionId: string;
  answer: SubmitInput | null;
}

/** Everything the entity holds in memory. Handlers and the loops change it; {@link touch} makes a change visible. */
export interface ConnectionState extends CarriedState {
  /** False until the row is inserted. */
  inserted: boolean;
  existingId: string | null;
  recordedRevision: number;
  pendingTimeline: Map<string, TimelineEvent>;
  requestedFlow: RequestedFlow | null;
  pause: Pause | null;
  flowRunning: boolean;
  checkRequested: string | null;
  checkRunning: boolean;
  removeRequested: boolean;
  removed: boolean;
  /** True when another credential was attached: what it can answer must be read. */
  credentialStale: boolean;
  /** Grows when settings change that the health timer depends on. */
  timerEpoch: number;
}

/** State of a connection that starts, new or carried over. */
export function initialState(input: ConnectionInput, nowIso: string): ConnectionState {
  const carried = input.carried ?? freshState(input.seed, nowIso);
  return {
    ...carried,
    inserted: input.carried !== null,
    existingId: null,
    recordedRevision: input.carried?.document.revision ?? 0,
    pendingTimeline: new Map(),
    requestedFlow: null,
    pause: null,
    flowRunning: false,
    checkRequested: null,
    checkRunning: false,
    removeRequested: false,
    removed: false,
    credentialStale: input.carried === null && input.seed.settings.credential !== undefined,
    timerEpoch: 0,
  };
}

function freshState(seed: ConnectionSeed, nowIso: string): CarriedState {
  return {
    document: {
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
    },
    hadLogin: false,
    credential: null,
    refused: null,
    requirements: null,
    appliedSubmissions: [],
    lastLoginId: null,
    lastCheckId: null,
    nextCheckAt: null,
  };
}

/** What a continue-as-new hands over. */
export function carriedOf(state: ConnectionState): CarriedState {
  const {
    document,
    hadLogin,
    credential,
    refused,
    requirements,
    appliedSubmissions,
    lastLoginId,
    lastCheckId,
    loginPageUrl,
    nextCheckAt,
  } = state;
  return {
    document,
    hadLogin,
    credential,
    refused,
    requirements,
    appliedSubmissions,
    lastLoginId,
    lastCheckId,
    ...(loginPageUrl === undefined ? {} : { loginPageUrl }),
    nextCheckAt,
  };
}

/** Applies a change to the document: the gate is asked again and the revision grows. */
export function touch(state: ConnectionState, change: Partial<ConnectionDocument>, events: TimelineEvent[] = []): void {
  const document = { ...state.document, ...change };
  const verdict = evaluateReauthGate({
    hadLogin: state.hadLogin,
    reference: document.settings.credential,
    credential: state.credential,
    refused: state.refused,
    requirements: state.requirements,
  });
  state.document = {
    ...document,
    can_reauth: verdict.canReauth,
    can_reauth_reason: verdict.reason,
    revision: state.document.revision + 1,
  };
  for (const event of events) state.pendingTimeline.set(event.id, event);
}

/** Remembers that a submission was applied. */
export function rememberSubmission(state: ConnectionState, submissionId: string): void {
  state.appliedSubmissions = [...state.appliedSubmissions, submissionId].slice(-SUBMISSION_RING);
}

/** Where a login of this connection goes. `overrides` are those of one login request. */
export function targetOf(state: ConnectionState, overrides: LoginRequest | null = null): LoginTarget {
  const { document } = state;
  const { settings } = document;
  // What a login leaves out, it takes from the connection: its proxy above all.
  const browser =
    overrides?.browser === undefined ? (settings.browser ?? null) : { ...settings.browser, ...overrides.browser };
  const telemetry = overrides?.browserTelemetry ?? settings.browser_telemetry;
  return {
    connectionId: document.id,
    organizationId: document.organization_id,
    projectId: document.project_id,
    domain: settings.domain,
    profileName: settings.profile_name,
    loginUrl: settings.login_url ?? null,
    postLoginUrl: document.post_login_url,
    ...(state.loginPageUrl === undefined ? {} : { loginPageUrl: state.loginPageUrl }),
    allowedDomains: settings.allowed_domains ?? [],
    browser: telemetry === undefined || browser?.telemetry !== undefined ? browser : { ...browser, telemetry },
    credentialName: settings.credential?.name ?? null,
    recordSession: overrides?.recordSession ?? settings.record_session,
  };
}

/** The timeline's event of a flow: one per flow, updated as it goes. */
export function flowEvent(flow: FlowState, nowIso: string): TimelineEvent {
  return {
    id: `evt_${flow.flow_id}`,
    type: flow.flow_type === 'LOGIN' ? 'login' : 'reauth',
    status: flow.flow_status,
    timestamp: flow.started_at,
    updated_at: nowIso,
    step: flow.flow_status === 'EXPIRED' ? 'EXPIRED' : flow.flow_step,
    ...(flow.error_code === null ? {} : { error_code: flow.error_code }),
    ...(flow.error_message === null ? {} : { error_message: flow.error_message }),
    ...(flow.website_error === null ? {} : { website_error: flow.website_error }),
    ...(flow.browser_session_id === null ? {} : { browser_session_id: flow.browser_session_id }),
    ...(flow.telemetry_captured === true ? { telemetry_captured: true } : {}),
    ...(typeof flow.replay_id === 'string' ? { replay_id: flow.replay_id } : {}),
  };
}
