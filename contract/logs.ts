import { z } from 'zod';
import { AbsolutePath } from './processes.ts';

/** Components of a session that write a log: the supervised processes, and the service about them. */
const SUPERVISED_PARTS = ['chromium', 'display', 'recorder', 'service'] as const;
export type SupervisedPart = (typeof SUPERVISED_PARTS)[number];

const Flag = z.enum(['true', 'false']).transform((value) => value === 'true');

/** Query of `logs/stream`: `path` and `supervisor_process` are only valid with their own source. */
export const LogStreamQuery = z
  .strictObject({
    source: z.enum(['path', 'supervisor']),
    follow: Flag.default(true),
    path: AbsolutePath.optional(),
    supervisor_process: z.enum(SUPERVISED_PARTS).optional(),
  })
  .refine(({ source, path }) => source !== 'path' || path !== undefined, {
    path: ['path'],
    message: 'is required with source path',
  })
  .refine(({ source, supervisor_process: part }) => source !== 'supervisor' || part !== undefined, {
    path: ['supervisor_process'],
    message: 'is required with source supervisor',
  });
export type LogStreamQuery = z.infer<typeof LogStreamQuery>;

/** One event of `logs/stream`: a line of the log, and when it was read. */
export const LogEvent = z.object({ event: z.literal('log'), message: z.string(), timestamp: z.iso.datetime() });
export type LogEvent = z.infer<typeof LogEvent>;
