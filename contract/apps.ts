import { z } from 'zod';

/** The only region; the interface's name for it. */
export const APP_REGION = 'aws.us-east-1a';
/** Version of a deployment that names none; each such deployment replaces the previous one. */
export const DEFAULT_APP_VERSION = 'latest';

/** Largest archive of a deployment, packed and unpacked, in bytes. */
export const MAX_SOURCE_BYTES = 50 * 1024 * 1024;
export const MAX_UNPACKED_BYTES = 500 * 1024 * 1024;
/** Longest payload and output of an invocation, in characters of JSON. */
const MAX_PAYLOAD = 512 * 1024;
export const MAX_OUTPUT = 512 * 1024;
/** How much of a program's output is kept, in characters and in lines. */
export const MAX_LOG = 4 * 1024 * 1024;
export const MAX_LOG_LINES = 10_000;
/** Time limit of a synchronous invocation, and the default one of an asynchronous invocation, in seconds. */
export const SYNC_TIMEOUT_S = 100;
export const ASYNC_TIMEOUT_S = 900;
/** Time limit of a build, in seconds. */
export const BUILD_TIMEOUT_S = 600;

/** Path of a program's entrypoint within its archive or its repository folder. */
export const Entrypoint = z
  .string()
  .min(1)
  .max(1024)
  .refine(
    (place) => !place.startsWith('/') && !place.split(/[/\\]/).includes('..'),
    'must be a path inside the archive',
  )
  .refine((place) => /\.([cm]?[jt]s|tsx|py)$/.test(place), 'must end in .js, .mjs, .cjs, .ts, .mts, .cts, .tsx or .py');

/** A program in a GitHub repository. `auth` holds a secret: it is used for one download and not stored. */
export const GithubSource = z.strictObject({
  type: z.literal('github', 'must be github'),
  url: z.string().max(2048).describe('Base URL of the repository: https://github.com/owner/name'),
  ref: z
    .string()
    .min(1)
    .max(255)
    .regex(/^[^\s~^:?*[\\\p{Cc}]+$/u, 'must be a branch, a tag or a commit')
    .refine((ref) => !/\.\.|\/\/|^\/|\/$|^\.$/.test(ref), 'must be a branch, a tag or a commit'),
  entrypoint: Entrypoint,
  path: z
    .string()
    .max(1024)
    .refine((path) => !path.split(/[/\\]/).includes('..'), 'must be a folder of the repository')
    .optional(),
  auth: z
    .strictObject({
      method: z.literal('github_token', 'must be github_token'),
      token: z.string().regex(/^[\x21-\x7e]{1,500}$/, 'must be a token of GitHub'),
    })
    .optional(),
});
export type GithubSource = z.infer<typeof GithubSource>;

/** A downloaded program: its ZIP archive, and the SHA-256 of what GitHub sent, in hex. */
export interface FetchedSource {
  archive: Buffer;
  checksum: string;
}

const JsonSchema = z.record(z.string(), z.unknown()).nullable();

/** App action of interface.md: schemas are JSON Schema draft-07, null if there is none. */
export const AppAction = z.strictObject({
  name: z.string(),
  input_schema: JsonSchema.optional(),
  output_schema: JsonSchema.optional(),
});
export type AppAction = z.infer<typeof AppAction>;

/** App version summary of interface.md. `env_vars` has every name; only the console sees the values. */
export const AppVersion = z.strictObject({
  id: z.string(),
  app_name: z.string(),
  version: z.string(),
  region: z.literal(APP_REGION),
  deployment: z.string(),
  actions: z.array(AppAction),
  env_vars: z.record(z.string(), z.string()),
});
export type AppVersion = z.infer<typeof AppVersion>;

export const DeploymentStatus = z.enum(['queued', 'in_progress', 'running', 'failed', 'stopped']);
export type DeploymentStatus = z.infer<typeof DeploymentStatus>;

/** A deployment. `env_vars` as in {@link AppVersion}. */
export const Deployment = z.strictObject({
  id: z.string(),
  created_at: z.string(),
  updated_at: z.string(),
  region: z.literal(APP_REGION),
  status: DeploymentStatus,
  status_reason: z.string().optional(),
  entrypoint_rel_path: z.string(),
  env_vars: z.record(z.string(), z.string()),
  source_type: z.enum(['file', 'github']),
  source_checksum: z.string().describe('SHA-256 of the uploaded or downloaded archive, in hex'),
  source_url: z.string().optional(),
  source_ref: z.string().optional().describe('As requested; not resolved to a commit'),
  source_path: z.string().optional(),
});
export type Deployment = z.infer<typeof Deployment>;

export const InvocationStatus = z.enum(['queued', 'running', 'succeeded', 'failed']);
export type InvocationStatus = z.infer<typeof InvocationStatus>;

/** True for the final statuses of an invocation. */
export function isEnded(status: string): boolean {
  return status === 'succeeded' || status === 'failed';
}

/** JSON in a string. */
const JsonText = (limit: number) => z.string().max(limit).refine(isJson, 'must be JSON, as a string');

/** Body of `POST /invocations`. `retries`: how often the action is retried after it failed or was lost; ours. */
export const InvocationCreate = z.object({
  app_name: z.string().min(1).max(255),
  action_name: z.string().min(1).max(255),
  version: z.string().min(1).max(255).default(DEFAULT_APP_VERSION),
  payload: JsonText(MAX_PAYLOAD).optional(),
  async: z.boolean().default(false),
  async_timeout_seconds: z.int().min(10).max(3600).optional(),
  retries: z.int().min(0).max(10).default(0),
});

/** Body of `PATCH /invocations/{id}`: ends a running invocation with this output. */
export const InvocationUpdate = z.object({
  status: z.enum(['succeeded', 'failed']),
  output: JsonText(MAX_OUTPUT).optional(),
});

/** An invocation. Payload and output are JSON, as strings. */
export const Invocation = z.strictObject({
  id: z.string(),
  app_name: z.string(),
  version: z.string(),
  action_name: z.string(),
  status: InvocationStatus,
  status_reason: z.string().optional(),
  payload: z.string().optional(),
  output: z.string().optional(),
  started_at: z.string(),
  finished_at: z.string().nullable(),
});
export type Invocation = z.infer<typeof Invocation>;

/** Response of `POST /invocations`. */
export const CreatedInvocation = Invocation.pick({
  id: true,
  action_name: true,
  status: true,
  output: true,
  status_reason: true,
});

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Why an invocation ended without its program: timeout, lost worker, cancellation, or no capacity. */
export type InvocationFault = 'timed_out' | 'lost' | 'canceled' | 'unavailable';

/** Activities that build and run users' programs. Sources, values, payloads and outputs stay in the store. */
export interface AppActivities {
  /** Builds a deployment, reads its actions and gives them a version. Retriable; a faulty program ends it. */
  buildDeployment(input: { deploymentId: string }): Promise<void>;
  /** Ends a deployment whose build failed through no fault of its own. */
  endDeployment(input: { deploymentId: string }): Promise<void>;
  /** Runs the action once. False if a retry is allowed; fails with `service_unavailable` if nothing was started. */
  runInvocation(input: { invocationId: string; isLast: boolean }): Promise<boolean>;
  /** Cleans up after an invocation: ends it if it has no end yet, revokes its program's key and closes its browsers. */
  endInvocation(input: { invocationId: string; fault: InvocationFault | null }): Promise<void>;
}
