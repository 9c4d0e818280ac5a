import { z } from 'zod';

/** Longest time span of one audit log query, in milliseconds. */
const LONGEST_SPAN_MS = 30 * 24 * 60 * 60_000;
/** Most rows of a page, and of a chunk of an export. */
const MAX_PAGE_ROWS = 100;
const MAX_CHUNK_ROWS = 50_000;

/** One request to the API (interface.md, "Audit log entry"). */
export const AuditLogEntry = z.strictObject({
  timestamp: z.iso.datetime().describe('When the request was received'),
  auth_strategy: z.string(),
  user_id: z.string(),
  email: z.string(),
  status: z.int(),
  method: z.string(),
  path: z.string(),
  route: z.string(),
  domain: z.string(),
  duration_ms: z.int(),
  client_ip: z.string(),
  user_agent: z.string(),
});
export type AuditLogEntry = z.infer<typeof AuditLogEntry>;

const Moment = z.iso.datetime({ offset: true, abort: true }).transform((text) => new Date(text));
/** A parameter that may be repeated, or hold comma-separated values. */
export const CommaSeparated = z
  .union([z.string(), z.array(z.string())])
  .transform((value) => [value].flat().flatMap((text) => text.split(',')));
const Several = CommaSeparated.pipe(z.array(z.string().min(1).max(255)).max(100));
const wholeNumberUpTo = (most: number) =>
  z
    .string()
    .regex(/^\d{1,9}$/, 'must be a whole number')
    .transform(Number)
    .pipe(z.int().min(1).max(most));

const filters = {
  start: Moment.describe('Inclusive'),
  end: Moment.describe('Exclusive'),
  method: z.string().max(20).optional(),
  exclude_method: Several.optional(),
  auth_strategy: z.string().max(50).optional(),
  service: z.string().max(50).describe('`browser` for browser sessions and pools, else `api`').optional(),
  search: z.string().max(255).describe('Part of the path, user id, email, client address or status').optional(),
  search_user_id: Several.describe('User ids that also match `search`').optional(),
};

/** Filters of audit log rows, as query parameters. */
export type AuditLogFilters = z.infer<z.ZodObject<typeof filters>>;

const endsAfterStart = ({ start, end }: AuditLogFilters): boolean => end > start;
const ORDER = { path: ['end'], message: 'must be after `start`' };

/** Query of `GET /audit-logs`: at most 30 days. */
export const AuditLogQuery = z
  .object({ ...filters, limit: wholeNumberUpTo(MAX_PAGE_ROWS).optional(), page_token: z.string().max(200).optional() })
  .refine(endsAfterStart, ORDER)
  .refine(({ start, end }) => end.getTime() - start.getTime() <= LONGEST_SPAN_MS, {
    path: ['end'],
    message: 'must be at most 30 days after `start`; send several queries, or use the export',
  });

/** Query of `GET /audit-logs/export/chunk`: any time span, newest rows first. */
export const AuditLogExportQuery = z
  .object({
    ...filters,
    limit: wholeNumberUpTo(MAX_CHUNK_ROWS).optional(),
    cursor: z.string().max(200).optional(),
    format: z.enum(['jsonl', 'jsonl.gz']).optional(),
  })
  .refine(endsAfterStart, ORDER);
