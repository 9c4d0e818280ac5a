import { z } from 'zod';
import { CAPTCHA_TYPES } from './telemetry-events.ts';

/** Reports from a worker to the browser service about captchas given to a solver, for telemetry. Not part of the interface. */

/** A solver's id of a task: a number or a name, which it expects back as it was. */
export const SolverTaskId = z.union([z.int(), z.string().min(1).max(200)]);

const TaskName = z.string().min(1).max(200);

/** Body of `POST /captcha_solves/{session id}`: a solver has taken a task or finished it. */
export const CaptchaSolve = z.discriminatedUnion('state', [
  z.strictObject({
    state: z.literal('started'),
    task_id: TaskName,
    captcha_type: z.enum(CAPTCHA_TYPES),
    website_host: z.string().max(500),
    /** Without query. */
    website_path: z.string().max(4096),
  }),
  z.strictObject({
    state: z.literal('ended'),
    task_id: TaskName,
    status: z.enum(['success', 'failure', 'timeout', 'abandoned']),
    /** Why it failed. */
    error_code: z.string().max(100).optional(),
  }),
]);
export type CaptchaSolve = z.infer<typeof CaptchaSolve>;
