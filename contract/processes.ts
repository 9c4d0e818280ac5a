import { z } from 'zod';

/** Longest timeout of a process, in seconds: the longest lifetime of a session. */
const MAX_TIMEOUT_SEC = 259_200;
/** Largest terminal, in columns and in rows. */
const MAX_TERMINAL_SIDE = 65_535;

/** The system ends a string at its first NUL and would silently drop the rest. */
const Text = z.string().refine((value) => !value.includes('\0'), 'must not contain a NUL character');

/** A path inside the session. */
export const AbsolutePath = Text.max(4096).regex(/^\//, 'must be an absolute path');

const Columns = z.int().min(1).max(MAX_TERMINAL_SIDE);
const Rows = z.int().min(1).max(MAX_TERMINAL_SIDE);

/** Members of `exec` and `spawn`. `command` is a program if `args` is given, even if empty; else a shell command. */
const command = {
  command: Text.min(1).max(100_000),
  args: z.array(Text.max(100_000)).max(1000).nullish(),
  as_root: z.boolean().nullish(),
  as_user: Text.min(1).max(255).nullish(),
  cwd: AbsolutePath.nullish(),
  env: z
    .record(
      z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'must be names of letters, digits and underscores'),
      Text.max(100_000),
    )
    .nullish()
    .transform((env) => env ?? {}),
  timeout_sec: z.int().min(1).max(MAX_TIMEOUT_SEC).nullish(),
};

/** Body of `process/exec`. */
export const ProcessExec = z.strictObject(command);
export type ProcessExec = z.infer<typeof ProcessExec>;

/** Body of `process/spawn`. `cols` and `rows` only apply with `allocate_tty`. */
export const ProcessSpawn = z.strictObject({
  ...command,
  allocate_tty: z.boolean().nullish(),
  cols: Columns.nullish(),
  rows: Rows.nullish(),
});
export type ProcessSpawn = z.infer<typeof ProcessSpawn>;

/** Answer of `process/spawn`. */
export const SpawnedProcess = z.object({ pid: z.int(), process_id: z.string(), started_at: z.iso.datetime() });

/** Response of `process/exec`: the command's output, in base64. */
export const ProcessResult = z.object({
  duration_ms: z.int(),
  exit_code: z.int(),
  stdout_b64: z.string(),
  stderr_b64: z.string(),
});

/** Signals that callers may send. */
export const ProcessSignal = z.enum(['TERM', 'KILL', 'INT', 'HUP']);
export type ProcessSignal = z.infer<typeof ProcessSignal>;

/** Body of `process/{process_id}/kill`; sends TERM if absent. */
export const ProcessKill = z.strictObject({ signal: ProcessSignal.default('TERM') });

/** Response of operations without a result. */
export const Ok = z.object({ ok: z.boolean() });

/** Response of `process/{process_id}/status`. `cpu_pct` and `mem_bytes` are estimates that include its children. */
export const ProcessStatus = z.object({
  state: z.enum(['running', 'exited']),
  exit_code: z.int().nullable(),
  cpu_pct: z.number().optional(),
  mem_bytes: z.int().optional(),
});
export type ProcessStatus = z.infer<typeof ProcessStatus>;

/** Body of `process/{process_id}/stdin`. */
export const ProcessStdin = z.strictObject({ data_b64: z.base64() });

/** Answer of `process/{process_id}/stdin`. */
export const StdinWritten = z.object({ written_bytes: z.int() });

/** Body of `process/{process_id}/resize`. */
export const ProcessResize = z.strictObject({ cols: Columns, rows: Rows });

/** One event of `process/{process_id}/stdout/stream`. */
export type ProcessOutputEvent =
  | { stream: 'stdout' | 'stderr'; data_b64: string }
  | { event: 'exit'; exit_code: number };
