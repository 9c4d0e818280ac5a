import { z } from 'zod';
import type { ProcessSignal, ProcessSpawn } from '../../contract/processes.ts';
import type { BrowserService } from './service.ts';
import { failure, failureOf, parseAnswer } from './service.ts';
import { retrieveSession, sessionPath } from './sessions.ts';

/** The session whose processes are meant. */
export interface ProcessTarget {
  projectId: string;
  sessionId: string;
}

/** What is read of a spawned process; a peer may answer more. Without an id nothing can be done with it. */
const Spawned = z.object({ process_id: z.string().min(1), pid: z.number().nullish() });
/** What is read of a command's end; a peer may leave out what it has nothing to say about. */
const Result = z.object({
  exit_code: z.number().default(0),
  stdout_b64: z.string().default(''),
  stderr_b64: z.string().default(''),
});

/** What a command did. */
export interface CommandResult {
  exitCode: number;
  stdout: Buffer;
  stderr: Buffer;
}

/** A request to run a program; only `command` is required. */
export type CommandRequest = Pick<Partial<ProcessSpawn>, 'args' | 'cwd' | 'env' | 'timeout_sec'> & { command: string };

/** How much longer than the command itself its answer may take, in milliseconds. */
const ANSWER_MARGIN_MS = 30_000;

/**
 * Starts a program (`process/spawn`). Not retried by itself: a lost answer leaves a process behind, which its
 * `timeout_sec` or the session's end will end.
 */
export async function spawnProcess(
  service: BrowserService,
  target: ProcessTarget,
  body: CommandRequest,
): Promise<{ processId: string }> {
  const path = processPath(target, 'spawn');
  const { process_id: processId } = await service.call({
    method: 'POST',
    path,
    ...common(target, body),
    schema: Spawned,
  });
  return { processId };
}

/**
 * Runs a program to its end (`process/exec`). Not retried after its time was over: it may have done its work. Some peers
 * answer a time-out by 500, others by an exit code.
 */
export async function execProcess(
  service: BrowserService,
  target: ProcessTarget,
  body: CommandRequest & { timeout_sec: number },
): Promise<CommandResult> {
  const timeoutMs = body.timeout_sec * 1000;
  const startedAt = performance.now();
  const answer = await service.exchange({
    method: 'POST',
    path: processPath(target, 'exec'),
    ...common(target, body),
    schema: null,
    timeoutMs: timeoutMs + ANSWER_MARGIN_MS,
  });
  if (answer.status >= 500 && performance.now() - startedAt >= timeoutMs) {
    throw failure('browser_error', 'the command did not end in its time', true);
  }
  if (answer.status >= 400) throw failureOf(answer.status, answer.retryAfter);
  const result = parseAnswer(Result, answer.text);
  return {
    exitCode: result.exit_code,
    stdout: Buffer.from(result.stdout_b64, 'base64'),
    stderr: Buffer.from(result.stderr_b64, 'base64'),
  };
}

/**
 * Sends a signal (`process/{id}/kill`). False when the process has ended already, which peers say by 404, 422 or 500; may
 * be repeated. Throws `session_gone` when the session has ended.
 */
export async function killProcess(
  service: BrowserService,
  target: ProcessTarget,
  processId: string,
  signal: ProcessSignal = 'TERM',
): Promise<boolean> {
  const path = processPath(target, `${encodeURIComponent(processId)}/kill`);
  const answer = await service.exchange({ method: 'POST', path, ...common(target, { signal }), schema: null });
  if (answer.status < 400) return true;
  if (answer.status !== 404 && answer.status !== 422 && answer.status !== 500) {
    throw failureOf(answer.status, answer.retryAfter);
  }
  // The same statuses may speak of the session, or of a fault: the process's own state tells.
  if (await isRunning(service, target, processId)) throw failureOf(500, answer.retryAfter);
  return false;
}

const Status = z.object({ state: z.string().nullish(), exit_code: z.number().nullish() });

/** Whether a process runs (`process/{id}/status`); peers forget ended ones, or fail on them. */
export async function isRunning(service: BrowserService, target: ProcessTarget, processId: string): Promise<boolean> {
  const path = processPath(target, `${encodeURIComponent(processId)}/status`);
  const { projectId } = target;
  const answer = await service.exchange({ method: 'GET', path, projectId, schema: null });
  if (answer.status < 400) {
    const { state, exit_code: exitCode } = parseAnswer(Status, answer.text);
    return state === 'running' && (exitCode ?? null) === null;
  }
  if (answer.status !== 404 && answer.status !== 500) throw failureOf(answer.status, answer.retryAfter);
  await retrieveSession(service, projectId, target.sessionId);
  return false;
}

function processPath(target: ProcessTarget, rest: string): string {
  return `${sessionPath(target.sessionId)}/process/${rest}`;
}

function common<Body>(target: ProcessTarget, body: Body): { projectId: string; body: Body } {
  return { projectId: target.projectId, body };
}
