import { z } from 'zod';
import type { ProcessSignal, ProcessSpawn } from '../contract/processes.ts';
import { parseAnswer, readEvents } from './answers.ts';
import { BrowserServiceError, errorForStatus, invalidResponse } from './errors.ts';
import type { BrowserService } from './service.ts';
import type { SessionTarget } from './sessions.ts';
import { retrieveSession, sessionPath } from './sessions.ts';

/** What is read of a spawned process; a peer may answer more. Without an id nothing can be done with it. */
const Spawned = z.object({ process_id: z.string().min(1), pid: z.number().nullish() });
/** What is read of a command's end; a peer may leave out what it has nothing to say about. */
const Result = z.object({
  exit_code: z.number().default(0),
  stdout_b64: z.string().default(''),
  stderr_b64: z.string().default(''),
});

/** What a command did. */
interface CommandResult {
  exitCode: number;
  stdout: Buffer;
  stderr: Buffer;
}

/** A request to run a program; only `command` is required. */
type CommandRequest = Pick<Partial<ProcessSpawn>, 'args' | 'cwd' | 'env' | 'timeout_sec' | 'as_user' | 'as_root'> & {
  command: string;
};

/** How much longer than the command itself its answer may take, in milliseconds. */
const ANSWER_MARGIN_MS = 30_000;

/**
 * Starts a program (`process/spawn`). Not retried by itself: a lost answer leaves a process behind, which its
 * `timeout_sec` or the session's end will end.
 */
export async function spawnProcess(
  service: BrowserService,
  target: SessionTarget,
  body: CommandRequest & Pick<Partial<ProcessSpawn>, 'allocate_tty' | 'cols' | 'rows'>,
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
  target: SessionTarget,
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
    throw invalidResponse('The command did not end in its time; give it longer');
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
 * Sends a signal (`process/{id}/kill`). False when the process has ended already, which peers say by 404, 422 or 500; may
 * be repeated. Throws `session_gone` when the session has ended.
 */
export async function killProcess(
  service: BrowserService,
  target: SessionTarget,
  processId: string,
  signal: ProcessSignal = 'TERM',
): Promise<boolean> {
  const path = processPath(target, `${encodeURIComponent(processId)}/kill`);
  const answer = await service.exchange({ method: 'POST', path, ...common(target, { signal }), schema: null });
  if (answer.status < 400) return true;
  if (answer.status !== 404 && answer.status !== 422 && answer.status !== 500) {
    throw errorForStatus(answer.status, answer.retryAfter);
  }
  // The same statuses may speak of the session, or of a fault: the process's own state tells.
  if (await isRunning(service, target, processId)) throw errorForStatus(500, answer.retryAfter);
  return false;
}

/** Writes to a process's input (`process/{id}/stdin`). Not retried by itself: it would be written twice. */
export async function writeInput(
  service: BrowserService,
  target: SessionTarget,
  processId: string,
  data: Buffer,
): Promise<void> {
  const path = processPath(target, `${encodeURIComponent(processId)}/stdin`);
  const body = { data_b64: data.toString('base64') };
  await service.call({ method: 'POST', path, ...common(target, body), schema: null });
}

/** Gives a process's terminal another size (`process/{id}/resize`). May be repeated. */
export async function resizeTerminal(
  service: BrowserService,
  target: SessionTarget,
  processId: string,
  size: { cols: number; rows: number },
): Promise<void> {
  const path = processPath(target, `${encodeURIComponent(processId)}/resize`);
  await service.call({ method: 'POST', path, ...common(target, size), schema: null });
}

const OutputFrame = z.object({
  stream: z.enum(['stdout', 'stderr']).nullish(),
  data_b64: z.string().nullish(),
  event: z.string().nullish(),
  exit_code: z.number().nullish(),
});

/** What a process said, or its end. */
type ProcessOutput = { stream: 'stdout' | 'stderr'; data: Buffer } | { exitCode: number };

/** What a process says (`process/{id}/stdout/stream`), to its end. A stream that breaks off throws `browser_error`. */
export async function* followOutput(
  service: BrowserService,
  target: SessionTarget,
  processId: string,
  signal?: AbortSignal,
): AsyncGenerator<ProcessOutput> {
  const path = processPath(target, `${encodeURIComponent(processId)}/stdout/stream`);
  const call = { method: 'GET' as const, path, projectId: target.projectId, schema: null, endless: true, signal };
  for await (const { stream, data_b64: data, event, exit_code: exitCode } of readEvents(
    await service.open(call),
    OutputFrame,
    signal,
  )) {
    if (event === 'exit') {
      yield { exitCode: exitCode ?? 0 };
      return;
    }
    if ((data ?? '') !== '') yield { stream: stream ?? 'stdout', data: Buffer.from(data ?? '', 'base64') };
  }
  signal?.throwIfAborted();
  throw new BrowserServiceError(
    'browser_error',
    'The stream of the browser service ended before the process; retry',
    true,
  );
}

const Status = z.object({ state: z.string().nullish(), exit_code: z.number().nullish() });

/** Whether a process runs (`process/{id}/status`); peers forget ended ones, or fail on them. */
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

function common<Body>(target: SessionTarget, body: Body): { projectId: string; body: Body } {
  return { projectId: target.projectId, body };
}
