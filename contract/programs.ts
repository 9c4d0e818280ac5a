import { z } from 'zod';
import { AppAction } from './apps.ts';

/**
 * What a worker asks of the browser service to have a user's program built and run: between these two alone, no part of the
 * interface.
 */

/** Id of a program: its deployment's. It names a folder. */
export const ProgramId = z.string().regex(/^dep_[0-9a-z]{25}$/, 'must be the id of a deployment');

const Environment = z.record(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/), z.string());

const common = {
  /** Place of the first file, relative to the program's folder. */
  entrypoint: z.string().min(1).max(1024),
  env: Environment,
  timeout_sec: z.int().min(1).max(3600),
};

/** Body of `POST /programs/{id}/runs`. `build` installs dependencies and learns the actions; `action` runs one of them. */
export const ProgramRun = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('build'), ...common }),
  z.strictObject({
    kind: z.literal('action'),
    ...common,
    app: z.string(),
    action: z.string(),
    invocation_id: z.string(),
    /** JSON; null calls the action without. */
    payload: z.string().nullable(),
    /** Where the API is, as the browser service reaches it. */
    api_url: z.url(),
  }),
]);
export type ProgramRun = z.infer<typeof ProgramRun>;

/** What a built program is made of. */
export const BuiltApps = z.array(z.strictObject({ name: z.string(), actions: z.array(AppAction) }));
export type BuiltApps = z.infer<typeof BuiltApps>;

/**
 * How a run ended. `answered`: `answer` is JSON, the action's output (null: it gave none) or the {@link BuiltApps}. `failed`:
 * the program says why. The others are ours to say: it was killed when its time was over, ended without an answer (memory is
 * the usual cause), or answered more than is taken.
 */
export const ProgramEnd = z.discriminatedUnion('outcome', [
  z.strictObject({ outcome: z.literal('answered'), answer: z.string().nullable() }),
  z.strictObject({ outcome: z.literal('failed'), reason: z.string() }),
  z.strictObject({ outcome: z.literal('timed_out') }),
  z.strictObject({ outcome: z.literal('exited'), exit_code: z.int() }),
  z.strictObject({ outcome: z.literal('too_large') }),
]);
export type ProgramEnd = z.infer<typeof ProgramEnd>;

/** One event of a run's answer. The last is `end`. */
export const ProgramEvent = z.discriminatedUnion('event', [
  z.object({ event: z.literal('log'), timestamp: z.string(), message: z.string() }),
  z.object({ event: z.literal('end'), end: ProgramEnd }),
]);
export type ProgramEvent = z.infer<typeof ProgramEvent>;
