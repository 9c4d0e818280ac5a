/** How far the typing of one interaction has come. */
export type TypingState = "intent" | "typed" | "pressed" | "observed";

/** One row of the ledger. */
export interface TypingEntry {
  connectionId: string;
  flowId: string;
  interactionId: string;
  submissionId: string | null;
  state: TypingState;
  at: Date;
}

/** The ledger that makes typing a password happen at most once. Committed before the first key is sent. */
export interface TypingLedgerQueries {
  /** True for the one caller who may type; false when it was claimed before (then read the page, never type blind). */
  claim(input: {
    connectionId: string;
    flowId: string;
    interactionId: string;
    submissionId?: string;
  }): Promise<boolean>;
  /** Moves forward only; a state that lies behind the stored one changes nothing. */
  advance(
    flowId: string,
    interactionId: string,
    state: TypingState,
  ): Promise<void>;
  read(flowId: string, interactionId: string): Promise<TypingEntry | null>;
}
