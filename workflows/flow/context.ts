import type { ChosenProvider, CredentialFacts, FinishOutcome, LoginTarget } from '../../contract/activities.ts';
import type { FlowErrorCode, FlowStatus } from '../../contract/connections.ts';
import type { FlowState } from '../../contract/document.ts';
import type {
  CredentialVersion,
  LoginPlan,
  LoginRequirements,
  PlanStep,
  RequiredField,
} from '../../contract/login-plan.ts';
import type { CodeChannel, FormChoice } from '../../contract/reading.ts';
import type { Interaction } from '../../contract/interaction.ts';
import type { SubmitInput } from '../messages.ts';
import type { LastEntry } from '../policy/last-entry.ts';
import { addStep } from '../policy/login-plan.ts';
import type { BrowserActivities } from './activities.ts';

/** Properties of the flow that its steps change. */
export type FlowPatch = Partial<
  Pick<
    FlowState,
    | 'flow_step'
    | 'passwords_typed'
    | 'browser_session_id'
    | 'live_view_url'
    | 'telemetry_captured'
    | 'replay_id'
    | 'replay_error'
    | 'interaction'
    | 'external_action_message'
    | 'sso_provider'
    | 'website_error'
  >
>;

/** A person's answer, or what came instead. */
export type PersonAnswer = { kind: 'submitted'; input: SubmitInput } | { kind: 'timeout' };

/** What a flow is given by the workflow that runs it. */
export interface FlowContext {
  mode: 'attended' | 'unattended';
  flowId: string;
  target: LoginTarget;
  expiresAt: string;
  saveCredentials: boolean;
  refused: CredentialVersion | null;
  /** The credential whose authenticator codes the site refused. Absent in histories that are older than it. */
  refusedCodes?: CredentialVersion | null;
  /** Fields of earlier logins. Absent in histories that are older than it. */
  knownFields?: RequiredField[];
  /** Plans that may be followed with nobody there, best first. Absent in histories that are older than it. */
  plans?: LoginPlan[];
  /** Channels whose codes come by themselves. Absent in histories that are older than it. */
  codeChannels?: CodeChannel[];
  browser: BrowserActivities;
  /** Makes a step visible to callers. */
  report(patch: FlowPatch): void;
  /** Waits for the answer to an interaction that was reported, for as long as a person may take unless `waitMs` says less. */
  awaitAnswer(interactionId: string, waitMs?: number): Promise<PersonAnswer>;
}

/** How a flow ended, and what was learned on the way. */
export interface FlowResult {
  status: 'SUCCESS' | 'FAILED';
  errorCode: FlowErrorCode | null;
  errorMessage: string | null;
  websiteError: string | null;
  finished: FinishOutcome | null;
  /** Where the login page was found; null when the site asked for no login. */
  loginPageUrl: string | null;
  /** A credential version that the site refused, new or as it was given. */
  refused: CredentialVersion | null;
  /** The same of codes of its secret. Absent in histories that are older than it. */
  refusedCodes?: CredentialVersion | null;
  /** How the login went. Absent in histories that are older than it. */
  steps?: PlanStep[];
  /** The plan that was followed, and whether a page did not fit it. Absent in histories that are older than it. */
  followed?: FollowedPlan | null;
  /** What was needed, in histories that are older than `steps`. */
  requirements?: LoginRequirements;
  /** The credential as the last page met it. Absent in histories that are older than it. */
  credential?: CredentialFacts | null;
  /** What a person has said of the forms, new or as it was given. Absent in histories that are older than it. */
  forms?: FormChoice | null;
  /** Why the page was read as it was that the flow failed for. Absent for every other end. */
  evidence?: string;
}

/** The plan that a flow went by. `departed`: a page asked for something that the plan does not have. */
export interface FollowedPlan {
  planId: string;
  departed: boolean;
}

/** The end of a flow as the entity learns it; without a result when it was stopped, or broke. */
export interface FlowEnd {
  status: Exclude<FlowStatus, 'IN_PROGRESS'>;
  result: FlowResult | null;
}

/** What the loop carries from step to step; its steps change it in place. */
export interface Progress {
  sessionId: string | null;
  sessions: number;
  keptId: string | null;
  last: LastEntry | null;
  entered: number;
  /** How often a password was typed, or may have been. */
  passwords: number;
  rejections: number;
  codeRefusals: number;
  refused: CredentialVersion | null;
  refusedCodes: CredentialVersion | null;
  /** How the login has gone in one session, the last that anything was answered in. */
  steps: PlanStep[];
  stepsSession: number;
  followed: FollowedPlan | null;
  /** Whether the site took the last code of a new authenticator; null where none was typed. */
  enrolled: boolean | null;
  /** The credential as it was when the page was last read. */
  credential: CredentialFacts | null;
  /** The page that asked first. */
  loginPageUrl: string | null;
  /** The provider that was chosen last. */
  provider: ChosenProvider | null;
  /** What a person has said of the forms that were taken, in this flow or before. */
  forms: FormChoice | null;
  /** Pages whose captcha the solver was asked about, once each. */
  askedSolver: string[];
  /** What the next pause tells of that. */
  formNotice: Interaction['form_notice'];
}

/** The beginning of a flow. */
export function newProgress({
  refused,
  refusedCodes = null,
  target,
}: Pick<FlowContext, 'refused' | 'refusedCodes' | 'target'>): Progress {
  return {
    sessionId: null,
    sessions: 0,
    keptId: null,
    last: null,
    entered: 0,
    passwords: 0,
    rejections: 0,
    codeRefusals: 0,
    refused,
    refusedCodes,
    steps: [],
    stepsSession: 0,
    followed: null,
    enrolled: null,
    credential: null,
    loginPageUrl: null,
    provider: null,
    forms: target.forms ?? null,
    askedSolver: [],
    formNotice: undefined,
  };
}

/** Notes an answer for the plan. A flow that has started over is at the beginning of its plan again. */
export function noteStep(progress: Progress, step: PlanStep, again: boolean): void {
  const before = progress.stepsSession === progress.sessions ? progress.steps : [];
  progress.stepsSession = progress.sessions;
  progress.steps = addStep(before, step, again);
}

/** Where the flow goes, with what is known by now of the forms there. */
export function targetNow({ target }: FlowContext, { forms }: Progress): LoginTarget {
  return forms === null ? target : { ...target, forms };
}

/** What every step on a session is called with. */
export function stepInput(
  context: FlowContext,
  progress: Progress,
  sessionId: string,
): { target: LoginTarget; flowId: string; sessionId: string } {
  return { target: targetNow(context, progress), flowId: context.flowId, sessionId };
}
