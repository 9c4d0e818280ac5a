import type { Answer, FieldEntry, Observation } from '../../contract/activities.ts';
import type { FlowErrorCode } from '../../contract/connections.ts';
import type { CredentialVersion } from '../../contract/login-plan.ts';
import type { CodeChannel, ReadChoice } from '../../contract/reading.ts';
import type { FieldMemory } from './field-refs.ts';
import type { AskedChoice, AskedField } from './interaction.ts';
import type { LastEntry } from './last-entry.ts';
import type { PlannedStep } from './login-plan.ts';

/** Everything a decision depends on. */
export interface Situation {
  mode: 'attended' | 'unattended';
  observation: Observation;
  last: LastEntry | null;
  refused: CredentialVersion | null;
  /** The credential whose authenticator codes the site refused. */
  refusedCodes: CredentialVersion | null;
  /** How many consecutive codes of the saved secret were refused in this flow. */
  codeRefusals: number;
  /** How often a person's answer was refused in this flow. */
  rejections: number;
  /** How many answers were entered in this flow. */
  entered: number;
  /** The step of a plan for this page, in an unattended flow. */
  planned: PlannedStep | null;
  /** What the person agrees to keep can be saved. Absent reads as false. */
  canSave?: boolean;
  /** A passkey that the person agrees to can be saved to the external secret store. Absent reads as false. */
  canSaveExternally?: boolean;
  /** Channels whose codes arrive automatically. */
  codeChannels: readonly CodeChannel[];
  /** The captcha solver was not asked about this page yet. Absent reads as false. */
  canAskSolver?: boolean;
  /** Fields that already have a `ref`. */
  fields: FieldMemory;
}

/** A form that waits for a person's answer. */
export interface Question {
  fields: AskedField[];
  choices: AskedChoice[];
  /** Fields of the same form that the credential answers; they are typed together with the person's. */
  known: FieldEntry[];
  submit: Answer['submit'];
}

/** What to do next. */
export type Decision =
  | { do: 'finish' }
  | { do: 'enter'; answer: Answer }
  | { do: 'ask'; question: Question }
  | { do: 'solve' }
  | { do: 'wait'; message: string; question: Question }
  | { do: 'fail'; code: FlowErrorCode; message: string };

/** Ends the flow with an error. */
export function fail(code: FlowErrorCode, message: string): Extract<Decision, { do: 'fail' }> {
  return { do: 'fail', code, message };
}

/** Takes a choice, typing nothing. */
export function pick(choice: ReadChoice, submit: Answer['submit']): Decision {
  return { do: 'enter', answer: { entries: [], submit, choice } };
}
