import type { ChosenProvider, CredentialFacts, FinishOutcome, LoginTarget } from '../../contract/activities.ts';
import type { FlowErrorCode, FlowStatus } from '../../contract/connections.ts';
import type {
  CredentialVersion,
  FlowState,
  LoginRequirements,
  RequiredField,
  TakenChoice,
} from '../../contract/document.ts';
import type { SubmitInput } from '../messages.ts';
import type { LastEntry } from '../policy/decide.ts';
import type { BrowserActivities } from './activities.ts';

/** Properties of the flow that its steps change. */
export type FlowPatch = Partial<
  Pick<
    FlowState,
    | 'flow_step'
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
  /** Choices that the last good login took. Absent in histories that are older than it. */
  takenChoices?: TakenChoice[];
  browser: BrowserActivities;
  /** Makes a step visible to callers. */
  report(patch: FlowPatch): void;
  /** Waits for the answer to an interaction that was reported, for as long as a person may take. */
  awaitAnswer(interactionId: string): Promise<PersonAnswer>;
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
  requirements: LoginRequirements;
  /** The credential as the last page met it. Absent in histories that are older than it. */
  credential?: CredentialFacts | null;
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
  rejections: number;
  codeRefusals: number;
  refused: CredentialVersion | null;
  refusedCodes: CredentialVersion | null;
  requirements: LoginRequirements;
  /** The credential as it was when the page was last read. */
  credential: CredentialFacts | null;
  /** The page that asked first. */
  loginPageUrl: string | null;
  /** The provider that was chosen last. */
  provider: ChosenProvider | null;
}

/** The beginning of a flow. */
export function newProgress({ refused, refusedCodes = null }: Pick<FlowContext, 'refused' | 'refusedCodes'>): Progress {
  return {
    sessionId: null,
    sessions: 0,
    keptId: null,
    last: null,
    entered: 0,
    rejections: 0,
    codeRefusals: 0,
    refused,
    refusedCodes,
    requirements: { fields: [], externalAction: false },
    credential: null,
    loginPageUrl: null,
    provider: null,
  };
}

/** What every step on a session is called with. */
export function stepInput(
  context: FlowContext,
  sessionId: string,
): { target: LoginTarget; flowId: string; sessionId: string } {
  return { target: context.target, flowId: context.flowId, sessionId };
}
