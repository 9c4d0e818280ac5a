import { z } from 'zod';

/** Longest that code may run, in seconds. */
const MAX_TIMEOUT_SEC = 600;

/** The executor that runs what names none. */
export const DEFAULT_EXECUTOR = 'default';

/**
 * Body of `playwright/execute`: the body of an async function, in TypeScript or JavaScript. Calls of one `executor` follow each
 * other, those of several run side by side; one with a name of its own has a tab of its own, the default one the page in use.
 */
export const PlaywrightExecute = z.strictObject({
  code: z.string().min(1).max(500_000),
  executor: z.string().min(1).max(255).default(DEFAULT_EXECUTOR),
  timeout_sec: z.int().min(1).max(MAX_TIMEOUT_SEC).default(60),
});
export type PlaywrightExecute = z.infer<typeof PlaywrightExecute>;

/** The tab that a call's `page` was. */
export const PlaywrightTab = z.object({ created: z.boolean(), target_id: z.string().max(128) });

/** Answer of `playwright/execute`. Code that fails is a success of the call: `success` tells. */
export const PlaywrightResult = z.object({
  success: z.boolean(),
  /** What the code returned, as JSON has it. */
  result: z.unknown().optional(),
  error: z.string().optional(),
  stdout: z.string(),
  stderr: z.string(),
  /** What `page` was, and whether the call opened it; left out when the code did not come to run. */
  tab: PlaywrightTab.optional(),
});
export type PlaywrightResult = z.infer<typeof PlaywrightResult>;
