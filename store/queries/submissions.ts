/** Longest life of submitted values: they may hold one-time codes. */
export const SUBMISSION_MAX_LIFE_MS = 10 * 60_000;

/** The values of a submission. For the typing activity alone. */
export interface OpenedSubmission {
  connectionId: string;
  interactionId: string;
  values: Record<string, string>;
}

/** Submissions: what a person typed, sealed under the connection's data key until it is typed into the site. */
export interface SubmissionQueries {
  /**
   * Seals values. The same values for the same interaction answer the same id with `duplicate: true` (a client that
   * retries), even after `destroy`. `expiresAt` is capped to {@link SUBMISSION_MAX_LIFE_MS} from now.
   */
  seal(input: {
    connectionId: string;
    interactionId: string;
    values: Record<string, string>;
    expiresAt: Date;
  }): Promise<{ submissionId: string; duplicate: boolean }>;
  /** Null when unknown, destroyed or expired. */
  open(submissionId: string): Promise<OpenedSubmission | null>;
  /** Deletes the values; the row stays without them until it expires, so that a late retry is still a duplicate. */
  destroy(submissionId: string): Promise<void>;
  /** Deletes what has expired; answers how many. */
  sweep(now: Date): Promise<number>;
}
