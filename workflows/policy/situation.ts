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
  /** How many codes of the saved secret were refused in this flow, one after the other. */
  codeRefusals: number;
  /** How many times a person's answer was refused in this flow. */
  rejections: number;
  /** How many answers were entered in this flow. */
  entered: number;
  /** What a plan says of this page, for a flow with nobody there. */
  planned: PlannedStep | null;
  /** What the person agrees to keep is saved. Absent reads as false. */
  mayKeep?: boolean;
  /** A passkey that the person agrees to is written to the external secret store, where its item takes it. Absent reads as false. */
  mayWrite?: boolean;
  /** Channels whose codes come by themselves. */
  codeChannels: readonly CodeChannel[];
  /** The captcha solver has not been asked about this page yet. Absent reads as false. */
  mayAskSolver?: boolean;
  /** Fields that have their `ref` already. */
  fields: FieldMemory;
}

/** A form that waits for answers: who can give them is decided, the values are not here. */
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

/** The flow ends here, and why. */
export function fail(code: FlowErrorCode, message: string): Extract<Decision, { do: 'fail' }> {
  return { do: 'fail', code, message };
}

/** A choice is taken, and nothing is typed. */
export function pick(choice: ReadChoice, submit: Answer['submit']): Decision {
  return { do: 'enter', answer: { entries: [], submit, choice } };
}
