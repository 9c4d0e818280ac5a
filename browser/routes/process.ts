import { Readable } from 'node:stream';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { HoldfastError } from '../../contract/errors.ts';
import {
  Ok,
  ProcessExec,
  ProcessKill,
  ProcessResize,
  ProcessSpawn,
  ProcessStatus,
  ProcessStdin,
  SpawnedProcess,
  StdinWritten,
} from '../../contract/processes.ts';
import type { BrowserDeps } from '../deps.ts';
import { whenGone } from '../../http/readers.ts';
import { withSession } from '../http/with-session.ts';
import type { ExecResult } from '../process/session-processes.ts';
import { processesOf } from '../process/session-processes.ts';
import { ProcessParams, SessionParams } from './params.ts';

/** `/browsers/{id}/process/…`: programs inside the session. Their output is streamed by process-output.ts. */
export function processRoutes(app: FastifyInstance, deps: BrowserDeps): void {
  const typed = app.withTypeProvider<ZodTypeProvider>();

  typed.post(
    '/browsers/:id/process/spawn',
    { schema: { params: SessionParams, body: ProcessSpawn, response: { 200: SpawnedProcess } } },
    (request) =>
      withSession(deps, request, request.params.id, async (session) => {
        const { id, process } = await processesOf(session).spawn(request.body);
        return { pid: process.pid, process_id: id, started_at: process.startedAt.toISOString() };
      }),
  );
  typed.post('/browsers/:id/process/exec', { schema: { params: SessionParams, body: ProcessExec } }, (request, reply) =>
    withSession(deps, request, request.params.id, async (session) => {
      const result = await processesOf(session).exec(request.body, whenGone(reply));
      return sendResult(reply, result);
    }),
  );
  typed.get(
    '/browsers/:id/process/:processId/status',
    { schema: { params: ProcessParams, response: { 200: ProcessStatus } } },
    (request) =>
      withSession(deps, request, request.params.id, (session) =>
        processesOf(session).find(request.params.processId).process.status(),
      ),
  );
  typed.post(
    '/browsers/:id/process/:processId/kill',
    { schema: { params: ProcessParams, body: ProcessKill.nullish(), response: { 200: Ok } } },
    (request) =>
      withSession(deps, request, request.params.id, async (session) => {
        const { process } = processesOf(session).find(request.params.processId);
        const sent = await process.signal(request.body?.signal ?? 'TERM');
        if (!sent) throw new HoldfastError('operation_failed', 'The process has already exited');
        return { ok: true };
      }),
  );
  typed.post(
    '/browsers/:id/process/:processId/stdin',
    { schema: { params: ProcessParams, body: ProcessStdin, response: { 200: StdinWritten } } },
    (request) =>
      withSession(deps, request, request.params.id, async (session) => {
        const { process } = processesOf(session).find(request.params.processId);
        const data = Buffer.from(request.body.data_b64, 'base64');
        await process.write(data);
        return { written_bytes: data.length };
      }),
  );
  typed.post(
    '/browsers/:id/process/:processId/resize',
    { schema: { params: ProcessParams, body: ProcessResize, response: { 200: Ok } } },
    (request) =>
      withSession(deps, request, request.params.id, (session) => {
        const { process } = processesOf(session).find(request.params.processId);
        if (!process.hasTerminal) {
          throw new HoldfastError('invalid_request', 'The process has no terminal; spawn it with allocate_tty');
        }
        process.resize(request.body);
        return Promise.resolve({ ok: true });
      }),
  );
}

/**
 * The answer is written piece by piece: a command's output may be far larger than what should be in memory at once. What
 * was too long to be kept is told by a header, for the interface has no field for it.
 */
function sendResult(reply: FastifyReply, result: ExecResult): FastifyReply {
  const cut = (['stdout', 'stderr'] as const).filter((stream) => result[stream].cut());
  if (cut.length > 0) reply.header('x-holdfast-truncated', cut.join(','));
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
