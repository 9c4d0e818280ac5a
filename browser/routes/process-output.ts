import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import type { FastifyInstance } from 'fastify';
import type { ProcessOutputEvent } from '../../contract/processes.ts';
import type { BrowserDeps } from '../deps.ts';
import { openEventStream } from '../../http/event-stream.ts';
import { withSession } from '../http/with-session.ts';
import { processesOf } from '../process/session-processes.ts';
import { ProcessParams } from './params.ts';

/**
 * `GET /browsers/{id}/process/{process_id}/stdout/stream`: what is kept of a process's output, what it says from now on, and
 * how it ends. What a reader was too slow for is lost to it; a comment in the stream says how much.
 */
export function processOutputRoute(app: FastifyInstance, deps: BrowserDeps): void {
  app
    .withTypeProvider<ZodTypeProvider>()
    .get('/browsers/:id/process/:processId/stdout/stream', { schema: { params: ProcessParams } }, (request, reply) =>
      withSession(deps, request, request.params.id, async (session) => {
        const { process, output } = processesOf(session).find(request.params.processId);
        const gone = new AbortController();
        const stream = openEventStream(reply);
        stream.onClose(() => {
          gone.abort();
        });
        let lost = '';
        const onLost = (bytes: number): void => {
          lost = `: ${String(bytes)} bytes were not read in time\n\n`;
        };
        for await (const piece of output.read(gone.signal, onLost)) {
          await stream.send(lost + frameOf({ stream: piece.stream, data_b64: piece.data.toString('base64') }));
          lost = '';
        }
        if (!stream.closed()) await stream.send(lost + frameOf({ event: 'exit', exit_code: await process.ended }));
        stream.end();
      }),
    );
}

function frameOf(event: ProcessOutputEvent): string {
  return `data: ${JSON.stringify(event)}\n\n`;
}
