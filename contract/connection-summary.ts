import { z } from 'zod';
import { CanReauthReason } from './connections.ts';

/** Most entries of each list of a summary. */
export const SUMMARY_ENTRIES = 10;

/** What happened within one hour. */
const ActivityHour = z.strictObject({
  hour: z.iso.datetime().describe('Its beginning'),
  checks: z.int().describe('Health checks'),
  expired: z.int().describe('Of these, how many found the session gone'),
  logins: z.int().describe('Logins and re-authentications that ended well'),
  failed_logins: z.int().describe('Those that did not'),
});

/** `GET /auth/connections/summary`: how the connections of the caller's scope are. Ours. */
export const ConnectionSummary = z.strictObject({
  total: z.int(),
  authenticated: z.int(),
  will_log_in: z.int().describe('Logged out, and will log in again with nobody there'),
  needs_person: z.int().describe('Logged out, and somebody has to log in'),
  waiting: z.int().describe('Logins that wait for somebody now'),
  reasons: z
    .array(z.strictObject({ reason: CanReauthReason, count: z.int() }))
    .describe('Why those that need a person do, most frequent first'),
  domains: z
    .array(z.strictObject({ domain: z.string(), count: z.int() }))
    .describe('The sites of most of those that need a person'),
  activity: z.array(ActivityHour).describe('Hour by hour, oldest first; hours in which nothing happened are left out'),
  slowest: z
    .array(z.strictObject({ domain: z.string(), seconds: z.number(), logins: z.int() }))
    .describe('Sites by how long a login of theirs takes (the median of those that ended well in that time)'),
});
export type ConnectionSummary = z.infer<typeof ConnectionSummary>;
