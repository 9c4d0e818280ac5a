import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { toHoldfastError } from '../../http/errors.ts';
import { eventFrame, openEventStream } from '../../http/event-stream.ts';
import { lastEventIdOf } from '../../http/headers.ts';
import type { AppEvent, AppSubject } from '../../store/queries/app-events.ts';
import { principalCallerOf, principalIdOf } from '../caller.ts';
import type { ApiParts } from '../parts.ts';

/** Events per read from the store. */
const BATCH_SIZE = 200;
const UNITS_MS = new Map([
  ['ns', 1e-6],
  ['us', 1e-3],
  ['ms', 1],
  ['s', 1000],
  ['m', 60_000],
  ['h', 3_600_000],
  ['d', 86_400_000],
]);
const AGE_PART = /(\d{1,9}(?:\.\d{1,9})?)(ns|us|ms|[smhd])/g;
const AGE = new RegExp(`^(?:${AGE_PART.source}){1,8}$`);
/** A date and time without a zone. */
const WITHOUT_ZONE = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?$/;

/** `since`: a time (UTC unless it has a zone), or an age (`5m`, `1h30m`). */
export const Since = z
  .string()
  .max(64)
  .optional()
  .transform((text, ctx): Date | undefined => {
    if (text === undefined || text === '') return undefined;
    const at = AGE.test(text) ? Date.now() - ageOf(text) : Date.parse(WITHOUT_ZONE.test(text) ? `${text}Z` : text);
    if (!Number.isNaN(at)) return new Date(at);
    ctx.addIssue({ code: 'custom', message: 'must be a time such as 2026-01-02T03:04:05Z, or an age such as 5m' });
    return z.NEVER;
  });

/** The sum of an age's parts, in milliseconds. */
function ageOf(text: string): number {
  const parts = [...text.matchAll(AGE_PART)];
  return parts.reduce((sum, [, count, unit = '']) => sum + Number(count) * (UNITS_MS.get(unit) ?? 0), 0);
}

/** What to stream. `present` builds the data of an event; `isLast` identifies the status that ends the stream. */
interface AppEventSource {
  subject: AppSubject;
  since: Date | undefined;
  present: (event: AppEvent) => { event: string; [name: string]: unknown };
  isLast: (status: string) => boolean;
}

/** Streams the events of a deployment or an invocation until its final status. `Last-Event-ID` resumes. */
export async function streamAppEvents(
  { store, streams, clock }: ApiParts,
  request: FastifyRequest,
  reply: FastifyReply,
  { subject, since, present, isLast }: AppEventSource,
): Promise<void> {
  const stream = streams.open(principalIdOf(principalCallerOf(request)));
  const frame = (data: { event: string; [name: string]: unknown }, id?: number) => eventFrame(data.event, data, id);
  const writer = openEventStream(reply, {
    heartbeat: () => frame({ event: 'sse_heartbeat', timestamp: clock().toISOString() }),
  });
  writer.onClose(stream.close);
  let last = lastEventIdOf(request.headers['last-event-id']) ?? 0;
  try {
    for await (const _ of store.appChanges.watch(subject.id, stream.signal)) {
      for (;;) {
        const events = await store.appEvents.after(subject, last, BATCH_SIZE, since);
        for (const event of events) {
          last = event.number;
          await writer.send(frame(present(event), event.number));
          if (event.body.event === 'state' && isLast(event.body.status)) return;
        }
        if (events.length < BATCH_SIZE) break;
      }
      // Ended before `since`: no more events follow.
      const status = await store.appEvents.statusOf(subject);
      if (status === null || isLast(status)) return;
    }
  } catch (error) {
    const { code, message } = toHoldfastError(error);
    await writer.send(frame({ event: 'error', timestamp: clock().toISOString(), error: { code, message } }));
  } finally {
    writer.end();
    stream.close();
  }
}
