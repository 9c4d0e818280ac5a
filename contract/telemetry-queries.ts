import { z } from 'zod';
import { CommaSeparated } from './audit-logs.ts';
import { PAGE } from './limits.ts';
import { EVENT_CATEGORIES } from './telemetry.ts';

const UNIT_MS: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const DURATION = /^(?:\d+(?:\.\d+)?(?:ms|s|m|h|d))+$/;

/** An RFC 3339 time (in epoch milliseconds), or a duration such as `5m`, counted back from when it is used. */
const Moment = z.string().transform((text, check): number | ((now: number) => number) => {
  if (DURATION.test(text)) {
    const parts = [...text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h|d)/g)];
    const back = parts.reduce((sum, [, amount, unit]) => sum + Number(amount) * (UNIT_MS[unit ?? ''] ?? 0), 0);
    return (now) => now - back;
  }
  const parsed = z.iso.datetime({ offset: true }).safeParse(text);
  if (parsed.success) return Date.parse(parsed.data);
  check.addIssue({ code: 'custom', message: 'must be an RFC 3339 time, or a duration such as 5m' });
  return z.NEVER;
});

/** Types of events; an unknown one matches nothing. */
const Types = CommaSeparated.pipe(z.array(z.string().min(1).max(100)).max(100));

/** Query of `GET /browsers/{id}/telemetry/stream`. */
export const TelemetryStreamQuery = z.object({ replay: z.string().optional(), type: Types.optional() });

/** Query of `GET /browsers/{id}/telemetry/events`. */
export const TelemetryEventsQuery = z
  .object({
    since: Moment.optional(),
    until: Moment.optional(),
    category: CommaSeparated.pipe(z.array(z.enum(EVENT_CATEGORIES))).optional(),
    type: Types.optional(),
    order: z.enum(['asc', 'desc']).default('asc'),
    limit: z.coerce.number().int().min(1).max(PAGE.max).default(PAGE.default),
    offset: z.coerce.number().int().min(0).optional(),
  })
  .refine(({ order, since }) => order === 'asc' || since === undefined, {
    path: ['since'],
    message: 'cannot be combined with order=desc; use until',
  });
