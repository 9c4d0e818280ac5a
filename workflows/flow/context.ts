import type {
  ChosenProvider,
  CredentialFacts,
  FinishOutcome,
  LoginActivities,
  LoginTarget,
} from '../../contract/activities.ts';
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

/** Properties of the flow that its steps report. */
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

/** What a flow is started with. */
export interface FlowInput {
  flowId: string;
  target: LoginTarget;
  expiresAt: string;
  saveCredentials: boolean;
  refused: CredentialVersion | null;
  /** The credential whose authenticator codes the site refused. Absent in older histories. */
  refusedCodes?: CredentialVersion | null;
  /** Fields of earlier logins. Absent in older histories. */
  knownFields?: RequiredField[];
  /** Plans that an unattended flow may follow, best first. Absent in older histories. */
  plans?: LoginPlan[];
  /** Channels whose codes arrive automatically. Absent in older histories. */
  codeChannels?: CodeChannel[];
}

/** A person's answer, or its timeout. */
export type PersonAnswer = { kind: 'submitted'; input: SubmitInput } | { kind: 'timeout' };

/** What a flow is given by the workflow that runs it. */
export interface FlowContext extends FlowInput {
  mode: 'attended' | 'unattended';
  browser: LoginActivities;
  /** Makes a step visible to callers. */
  report(patch: FlowPatch): void;
  /** Waits for the answer to a reported interaction: as long as a person may take, or `waitMs`. */
  awaitAnswer(interactionId: string, waitMs?: number): Promise<PersonAnswer>;
}

/** How a flow ended, and what was learned on the way. */
export interface FlowResult {
  status: 'SUCCESS' | 'FAILED';
  errorCode: FlowErrorCode | null;
  errorMessage: string | null;
  websiteError: string | null;
  finished: FinishOutcome | null;
  /** Where the login page was found; null if the site asked for no login. */
  loginPageUrl: string | null;
  /** A credential version whose password the site refused, now or before. */
  refused: CredentialVersion | null;
  /** The same for the codes of its secret. Absent in older histories. */
  refusedCodes?: CredentialVersion | null;
  /** How the login went. Absent in older histories. */
  steps?: PlanStep[];
  /** The plan that was followed. Absent in older histories. */
  followed?: FollowedPlan | null;
  /** What was needed, in histories older than `steps`. */
  requirements?: LoginRequirements;
  /** The credential as of the last page. Absent in older histories. */
  credential?: CredentialFacts | null;
  /** The person's choice of form, from this flow or before. Absent in older histories. */
  forms?: FormChoice | null;
  /** Why the last page was read the way it was, if the flow failed because of it. */
  evidence?: string;
}

/** The plan that a flow followed. `departed`: a page asked for something that is not in the plan. */
interface FollowedPlan {
  planId: string;
  departed: boolean;
}

/** The end of a flow as reported to the entity; without a result if it was stopped or crashed. */
export interface FlowEnd {
  status: Exclude<FlowStatus, 'IN_PROGRESS'>;
  result: FlowResult | null;
}

/** State of the flow's loop; its steps change it in place. */
export interface Progress {
  sessionId: string | null;
  sessions: number;
  /** Id of the sealed values that are saved to the credential once the login succeeds. */
  keptId: string | null;
  last: LastEntry | null;
  entered: number;
  /** How often a password was typed, or may have been. */
  passwords: number;
  rejections: number;
  codeRefusals: number;
  refused: CredentialVersion | null;
  refusedCodes: CredentialVersion | null;
  /** The steps of the login within one session: the last in which anything was answered. */
  steps: PlanStep[];
  stepsSession: number;
  followed: FollowedPlan | null;
  /** Whether the site accepted the last code of a new authenticator; null if none was typed. */
  enrolled: boolean | null;
  /** The credential as of the last reading of the page. */
  credential: CredentialFacts | null;
  /** The first page that asked for something. */
  loginPageUrl: string | null;
  /** The provider that was chosen last. */
  provider: ChosenProvider | null;
  /** The person's choice of form, from this flow or before. */
  forms: FormChoice | null;
  /** Pages whose captcha was given to the solver. */
  solverPages: string[];
  /** What the next pause says about the form. */
  formNotice: Interaction['form_notice'];
}

/** The state at the start of a flow. */
export function newProgress({ refused, refusedCodes = null, target }: FlowInput): Progress {
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
    solverPages: [],
    formNotice: undefined,
  };
}

/** Records an answer for the plan. A flow that started over in a new session begins its plan again. */
export function recordStep(progress: Progress, step: PlanStep, again: boolean): void {
  const before = progress.stepsSession === progress.sessions ? progress.steps : [];
  progress.stepsSession = progress.sessions;
  progress.steps = addStep(before, step, again);
}

/** The target of the flow, with the current choice of form. */
export function currentTarget({ target }: FlowContext, { forms }: Progress): LoginTarget {
  return forms === null ? target : { ...target, forms };
}

/** The input that every step on a session shares. */
export function sessionInput(
  context: FlowContext,
  progress: Progress,
  sessionId: string,
): { target: LoginTarget; flowId: string; sessionId: string } {
  return { target: currentTarget(context, progress), flowId: context.flowId, sessionId };
}
