import { z } from 'zod';

/** Longest timeout of code, in seconds. */
const MAX_TIMEOUT_SEC = 600;

/** The default executor. */
export const DEFAULT_EXECUTOR = 'default';

/** Body of `playwright/execute`: an async function's body. A named `executor` has its own tab and runs calls in sequence. */
export const PlaywrightExecute = z.strictObject({
  code: z.string().min(1).max(500_000),
  executor: z.string().min(1).max(255).default(DEFAULT_EXECUTOR),
  timeout_sec: z.int().min(1).max(MAX_TIMEOUT_SEC).default(60),
});
export type PlaywrightExecute = z.infer<typeof PlaywrightExecute>;

/** The tab that a call's `page` was. */
export const PlaywrightTab = z.object({ created: z.boolean(), target_id: z.string().max(128) });

/** Response of `playwright/execute`. Code that fails is a successful call with `success: false`. */
export const PlaywrightResult = z.object({
  success: z.boolean(),
  /** The return value of the code, as JSON. */
  result: z.unknown().optional(),
  error: z.string().optional(),
  stdout: z.string(),
  stderr: z.string(),
  /** The tab of `page`, and whether the call opened it; absent if the code did not run. */
  tab: PlaywrightTab.optional(),
});
export type PlaywrightResult = z.infer<typeof PlaywrightResult>;
