/** How long a handoff code may be exchanged (wire.md: 410 when older than 5 minutes). */
export const HANDOFF_LIFE_MS = 5 * 60_000;

/** What became of a code. */
export type HandoffOutcome =
  | { outcome: "ok"; flowId: string }
  | { outcome: "used" }
  | { outcome: "expired" }
  | { outcome: "unknown" };

/** Handoff codes of the hosted page: 256 random bits, stored as a hash, good once. */
export interface HandoffQueries {
  /** The code, base64url. */
  create(connectionId: string, flowId: string): Promise<string>;
  /** One atomic update: of any number of callers at once one gets `ok`. */
  redeem(code: string, connectionId: string): Promise<HandoffOutcome>;
}
