import { z } from 'zod';
import { PAGE } from './limits.ts';
import { EVENT_CATEGORIES } from './telemetry.ts';

const UNIT_MS: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const DURATION = /^(?:\d+(?:\.\d+)?(?:ms|s|m|h|d))+$/;

/** A moment: an RFC 3339 time (Unix milliseconds), or a duration such as `5m`, which counts back from when it is used. */
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

/** Categories, each as a parameter of its own or several in one with commas between: clients do either. */
const Categories = z
  .union([z.string(), z.array(z.string())])
  .transform((given) => [given].flat().flatMap((text) => text.split(',')))
  .pipe(z.array(z.enum(EVENT_CATEGORIES)));

/** Types of events, in the same ways. One that is not known yet is of no event. */
const Types = z
  .union([z.string(), z.array(z.string())])
  .transform((given) => [given].flat().flatMap((text) => text.split(',')))
  .pipe(z.array(z.string().min(1).max(100)).max(100));

/** Query of `GET /browsers/{id}/telemetry/stream`. */
export const TelemetryStreamQuery = z.object({ replay: z.string().optional(), type: Types.optional() });

/** Query of `GET /browsers/{id}/telemetry/events`. */
export const TelemetryEventsQuery = z
  .object({
    since: Moment.optional(),
    until: Moment.optional(),
    category: Categories.optional(),
    type: Types.optional(),
    order: z.enum(['asc', 'desc']).default('asc'),
    limit: z.coerce.number().int().min(1).max(PAGE.max).default(PAGE.default),
    offset: z.coerce.number().int().min(0).optional(),
  })
  .refine(({ order, since }) => order === 'asc' || since === undefined, {
    path: ['since'],
    message: 'cannot be combined with order=desc; use until',
  });
export type TelemetryEventsQuery = z.infer<typeof TelemetryEventsQuery>;
