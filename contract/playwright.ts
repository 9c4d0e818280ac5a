import { z } from 'zod';

/** Longest that code may run, in seconds. */
const MAX_TIMEOUT_SEC = 600;

/** Body of `playwright/execute`: the body of an async function, in TypeScript or JavaScript. */
export const PlaywrightExecute = z.strictObject({
  code: z.string().min(1).max(500_000),
  timeout_sec: z.int().min(1).max(MAX_TIMEOUT_SEC).default(60),
});
export type PlaywrightExecute = z.infer<typeof PlaywrightExecute>;

/** Answer of `playwright/execute`. Code that fails is a success of the call: `success` tells. */
export const PlaywrightResult = z.object({
  success: z.boolean(),
  /** What the code returned, as JSON has it. */
  result: z.unknown().optional(),
  error: z.string().optional(),
  stdout: z.string(),
  stderr: z.string(),
});
export type PlaywrightResult = z.infer<typeof PlaywrightResult>;
