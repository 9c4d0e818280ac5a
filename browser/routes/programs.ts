import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import { BROWSER_ROUTES } from '../../contract/browser-routes.ts';
import { HoldfastError } from '../../contract/errors.ts';
import type { ProcessOutputEvent } from '../../contract/processes.ts';
import { openEventStream } from '../../http/event-stream.ts';
import { abortOnClose } from '../../http/slow-clients.ts';
import type { BrowserDeps } from '../deps.ts';
import type { Router } from '../http/router.ts';
import { createExecutors } from '../playwright/executors.ts';
import type { ExecResult, SpawnedProcess } from '../process/session-processes.ts';
import { processesOf } from '../process/session-processes.ts';

/** `/browsers/{id}/process/…` and `playwright/execute`: programs inside the session, and their output. */
export function programRoutes({ inSession }: Router, deps: BrowserDeps): void {
  inSession(BROWSER_ROUTES.processSpawn, async (session, { body }) => {
    const { id, process } = await processesOf(session).spawn(body);
    return { pid: process.pid, process_id: id, started_at: process.startedAt.toISOString() };
  });
  inSession(BROWSER_ROUTES.processExec, async (session, { body, reply }) =>
    sendResult(reply, await processesOf(session).exec(body, abortOnClose(reply))),
  );
  inSession(BROWSER_ROUTES.processStatus, (session, { params }) =>
    processesOf(session).find(params.processId).process.status(),
  );
  inSession(BROWSER_ROUTES.processKill, async (session, { params, body }) => {
    const { process } = processesOf(session).find(params.processId);
    const sent = await process.signal(body?.signal ?? 'TERM');
    if (!sent) throw new HoldfastError('operation_failed', 'The process has already exited');
    return { ok: true };
  });
  inSession(BROWSER_ROUTES.processStdin, async (session, { params, body }) => {
    const { process } = processesOf(session).find(params.processId);
    const data = Buffer.from(body.data_b64, 'base64');
    await process.write(data);
    return { written_bytes: data.length };
  });
  inSession(BROWSER_ROUTES.processResize, (session, { params, body }) => {
    const { process } = processesOf(session).find(params.processId);
    if (!process.hasTerminal) {
      throw new HoldfastError('invalid_request', 'The process has no terminal; spawn it with allocate_tty');
    }
    process.resize(body);
    return { ok: true };
  });
  inSession(BROWSER_ROUTES.processStdoutStream, (session, { params, reply }) =>
    streamOutput(processesOf(session).find(params.processId), reply),
  );

  const executors = createExecutors(deps.cdpProxy);
  inSession(BROWSER_ROUTES.executePlaywrightCode, (session, { body, reply }) =>
    executors.run(session, body, abortOnClose(reply)),
  );
}

/**
 * Streams the response, because a command's output may be too large for memory. A header reports truncated output: the
 * interface has no field for it.
 */
function sendResult(reply: FastifyReply, result: ExecResult): FastifyReply {
  const truncated = (['stdout', 'stderr'] as const).filter((stream) => result[stream].isTruncated());
  if (truncated.length > 0) reply.header('x-holdfast-truncated', truncated.join(','));
  async function* body(): AsyncGenerator<string> {
    try {
      const { durationMs, exitCode, stdout, stderr } = result;
      yield `{"duration_ms":${String(durationMs)},"exit_code":${String(exitCode)},"stdout_b64":"`;
      yield* stdout.base64();
      yield '","stderr_b64":"';
      yield* stderr.base64();
      yield '"}';
    } finally {
      await result.dispose();
    }
  }
  return reply.type('application/json').send(Readable.from(body(), { objectMode: false }));
}

/** Streams a process's buffered and further output, and its exit. A comment reports output that a slow reader missed. */
async function streamOutput({ process, output }: SpawnedProcess, reply: FastifyReply): Promise<FastifyReply> {
  const stream = openEventStream(reply);
  let lost = '';
  const onLost = (bytes: number): void => {
    lost = `: ${String(bytes)} bytes were not read in time\n\n`;
  };
  for await (const piece of output.read(abortOnClose(reply), onLost)) {
    await stream.send(lost + frameOf({ stream: piece.stream, data_b64: piece.data.toString('base64') }));
    lost = '';
  }
  if (!stream.closed()) await stream.send(lost + frameOf({ event: 'exit', exit_code: await process.ended }));
  stream.end();
  return reply;
}

function frameOf(event: ProcessOutputEvent): string {
  return `data: ${JSON.stringify(event)}\n\n`;
}
