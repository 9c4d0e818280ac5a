import { z } from 'zod';
import { AppAction } from './apps.ts';

/** How a worker has the browser service build and run users' programs. Not part of the interface. */

/** Id of a program: its deployment's. Used as a folder name. */
export const ProgramId = z.string().regex(/^dep_[0-9a-z]{25}$/, 'must be the id of a deployment');

const Environment = z.record(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/), z.string());

const common = {
  /** Path of the main file, relative to the program's folder. */
  entrypoint: z.string().min(1).max(1024),
  env: Environment,
  timeout_sec: z.int().min(1).max(3600),
};

/** Body of `POST /programs/{id}/runs`. `build` installs dependencies and reads the actions; `action` runs one of them. */
export const ProgramRun = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('build'), ...common }),
  z.strictObject({
    kind: z.literal('action'),
    ...common,
    app: z.string(),
    action: z.string(),
    invocation_id: z.string(),
    /** JSON; null for none. */
    payload: z.string().nullable(),
    /** URL of the API, as seen from the browser service. */
    api_url: z.url(),
  }),
]);
export type ProgramRun = z.infer<typeof ProgramRun>;

/** The apps of a built program. */
export const BuiltApps = z.array(z.strictObject({ name: z.string(), actions: z.array(AppAction) }));
export type BuiltApps = z.infer<typeof BuiltApps>;

/**
 * How a run ended. `answered`: `answer` is JSON: the action's output (null for none) or the {@link BuiltApps}. `failed`: the
 * program reported an error. Otherwise it was killed after its timeout, exited without an answer (usually out of memory), or
 * its answer was too large.
 */
export const ProgramEnd = z.discriminatedUnion('outcome', [
  z.strictObject({ outcome: z.literal('answered'), answer: z.string().nullable() }),
  z.strictObject({ outcome: z.literal('failed'), reason: z.string() }),
  z.strictObject({ outcome: z.literal('timed_out') }),
  z.strictObject({ outcome: z.literal('exited'), exit_code: z.int() }),
  z.strictObject({ outcome: z.literal('too_large') }),
]);
export type ProgramEnd = z.infer<typeof ProgramEnd>;

/** One event of a run's response. The last is `end`. */
export const ProgramEvent = z.discriminatedUnion('event', [
  z.object({ event: z.literal('log'), timestamp: z.string(), message: z.string() }),
  z.object({ event: z.literal('end'), end: ProgramEnd }),
]);
export type ProgramEvent = z.infer<typeof ProgramEvent>;
