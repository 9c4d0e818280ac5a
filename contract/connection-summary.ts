import { z } from 'zod';
import { CanReauthReason } from './connections.ts';

/** Most entries of each list of a summary. */
export const SUMMARY_ENTRIES = 10;

/** Activity within one hour. */
const ActivityHour = z.strictObject({
  hour: z.iso.datetime().describe('Start of the hour'),
  checks: z.int().describe('Health checks'),
  expired: z.int().describe('Health checks that found the session expired'),
  logins: z.int().describe('Successful logins and re-authentications'),
  failed_logins: z.int().describe('Failed logins and re-authentications'),
});

/** `GET /auth/connections/summary`: the state of the connections in the caller's scope. Ours. */
export const ConnectionSummary = z.strictObject({
  total: z.int(),
  authenticated: z.int(),
  will_log_in: z.int().describe('Logged out; will log in again unattended'),
  needs_person: z.int().describe('Logged out; a person must log in'),
  waiting: z.int().describe('Logins waiting for a person now'),
  reasons: z
    .array(z.strictObject({ reason: CanReauthReason, count: z.int() }))
    .describe('Why connections need a person, most frequent first'),
  domains: z
    .array(z.strictObject({ domain: z.string(), count: z.int() }))
    .describe('The sites of most connections that need a person'),
  activity: z.array(ActivityHour).describe('Hour by hour, oldest first; hours without activity are left out'),
  slowest: z
    .array(z.strictObject({ domain: z.string(), seconds: z.number(), logins: z.int() }))
    .describe('Sites by login duration (median of successful logins in that time)'),
});
export type ConnectionSummary = z.infer<typeof ConnectionSummary>;
