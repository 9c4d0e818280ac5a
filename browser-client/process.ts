import { z } from 'zod';
import type { ProcessSignal, ProcessSpawn } from '../contract/processes.ts';
import { parseAnswer, readEvents } from './answers.ts';
import { BrowserServiceError, errorForStatus, invalidResponse } from './errors.ts';
import type { BrowserService, ServiceCall } from './service.ts';
import type { SessionTarget } from './sessions.ts';
import { retrieveSession, sessionPath } from './sessions.ts';

/** The part of a spawned process that is read. */
const Spawned = z.object({ process_id: z.string().min(1) });
/** The part of a command's result that is read; other implementations omit defaults. */
const Result = z.object({
  exit_code: z.number().default(0),
  stdout_b64: z.string().default(''),
  stderr_b64: z.string().default(''),
});

/** Result of a finished command. */
interface CommandResult {
  exitCode: number;
  stdout: Buffer;
  stderr: Buffer;
}

/** A request to run a program; only `command` is required. */
type CommandRequest = Pick<Partial<ProcessSpawn>, 'args' | 'cwd' | 'env' | 'timeout_sec' | 'as_user' | 'as_root'> & {
  command: string;
};

/** How long a response may take beyond the command's own timeout, in milliseconds. */
const ANSWER_MARGIN_MS = 30_000;

/**
 * Starts a program (`process/spawn`). Not retried: a lost response leaves a process behind until its `timeout_sec` or the end
 * of the session.
 */
export async function spawnProcess(
  service: BrowserService,
  target: SessionTarget,
  body: CommandRequest & Pick<Partial<ProcessSpawn>, 'allocate_tty' | 'cols' | 'rows'>,
): Promise<{ processId: string }> {
  const { process_id: processId } = await service.call({ ...post(target, 'spawn', body), schema: Spawned });
  return { processId };
}

/**
 * Runs a program to completion (`process/exec`). Not retried after a timeout: it may have done its work. Some implementations
 * report a timeout by status 500, others by an exit code.
 */
export async function execProcess(
  service: BrowserService,
  target: SessionTarget,
  body: CommandRequest & { timeout_sec: number },
): Promise<CommandResult> {
  const timeoutMs = body.timeout_sec * 1000;
  const startedAt = performance.now();
  const answer = await service.exchange({ ...post(target, 'exec', body), timeoutMs: timeoutMs + ANSWER_MARGIN_MS });
  if (answer.status >= 500 && performance.now() - startedAt >= timeoutMs) {
    throw invalidResponse('The command timed out; allow it more time');
  }
  if (answer.status >= 400) throw errorForStatus(answer.status, answer.retryAfter);
  const result = parseAnswer(Result, answer.text);
  return {
    exitCode: result.exit_code,
    stdout: Buffer.from(result.stdout_b64, 'base64'),
    stderr: Buffer.from(result.stderr_b64, 'base64'),
  };
}

/**
 * Sends a signal (`process/{id}/kill`). False if the process has already exited, which implementations report by 404, 422 or
 * 500. Throws `session_gone` if the session has ended.
 */
export async function killProcess(
  service: BrowserService,
  target: SessionTarget,
  processId: string,
  signal: ProcessSignal = 'TERM',
): Promise<boolean> {
  const answer = await service.exchange(post(target, `${encodeURIComponent(processId)}/kill`, { signal }));
  if (answer.status < 400) return true;
  if (answer.status !== 404 && answer.status !== 422 && answer.status !== 500) {
    throw errorForStatus(answer.status, answer.retryAfter);
  }
  // The same statuses may concern the session, or be a failure: the process's own state decides.
  if (await isRunning(service, target, processId)) throw errorForStatus(500, answer.retryAfter);
  return false;
}

/** Writes to a process's stdin (`process/{id}/stdin`). Not retried: it might be written twice. */
export async function writeInput(
  service: BrowserService,
  target: SessionTarget,
  processId: string,
  data: Buffer,
): Promise<void> {
  const body = { data_b64: data.toString('base64') };
  await service.call(post(target, `${encodeURIComponent(processId)}/stdin`, body));
}

/** Resizes a process's terminal (`process/{id}/resize`). Idempotent. */
export async function resizeTerminal(
  service: BrowserService,
  target: SessionTarget,
  processId: string,
  size: { cols: number; rows: number },
): Promise<void> {
  await service.call(post(target, `${encodeURIComponent(processId)}/resize`, size));
}

const OutputFrame = z.object({
  stream: z.enum(['stdout', 'stderr']).nullish(),
  data_b64: z.string().nullish(),
  event: z.string().nullish(),
  exit_code: z.number().nullish(),
});

/** A piece of a process's output, or its exit. */
type ProcessOutput = { stream: 'stdout' | 'stderr'; data: Buffer } | { exitCode: number };

/** Follows a process's output until it exits (`process/{id}/stdout/stream`). Throws `browser_error` if the stream breaks off. */
export async function* followOutput(
  service: BrowserService,
  target: SessionTarget,
  processId: string,
  signal?: AbortSignal,
): AsyncGenerator<ProcessOutput> {
  const path = processPath(target, `${encodeURIComponent(processId)}/stdout/stream`);
  const call = { method: 'GET' as const, path, projectId: target.projectId, schema: null, endless: true, signal };
  const frames = readEvents(await service.open(call), OutputFrame, signal);
  for await (const { stream, data_b64: data, event, exit_code: exitCode } of frames) {
    if (event === 'exit') {
      yield { exitCode: exitCode ?? 0 };
      return;
    }
    if ((data ?? '') !== '') yield { stream: stream ?? 'stdout', data: Buffer.from(data ?? '', 'base64') };
  }
  signal?.throwIfAborted();
  throw new BrowserServiceError('browser_error', 'The output stream ended before the process did; retry', true);
}

const Status = z.object({ state: z.string().nullish(), exit_code: z.number().nullish() });

/** Whether a process is running (`process/{id}/status`); some implementations forget exited ones, or fail on them. */
export async function isRunning(service: BrowserService, target: SessionTarget, processId: string): Promise<boolean> {
  const path = processPath(target, `${encodeURIComponent(processId)}/status`);
  const { projectId } = target;
  const answer = await service.exchange({ method: 'GET', path, projectId, schema: null });
  if (answer.status < 400) {
    const { state, exit_code: exitCode } = parseAnswer(Status, answer.text);
    return state === 'running' && (exitCode ?? null) === null;
  }
  if (answer.status !== 404 && answer.status !== 500) throw errorForStatus(answer.status, answer.retryAfter);
  await retrieveSession(service, projectId, target.sessionId);
  return false;
}

function processPath(target: SessionTarget, rest: string): string {
  return `${sessionPath(target.sessionId)}/process/${rest}`;
}

function post(target: SessionTarget, operation: string, body: unknown): ServiceCall<null> {
  const { projectId } = target;
  return { method: 'POST', path: processPath(target, operation), projectId, body, schema: null };
}
