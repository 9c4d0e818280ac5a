import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { EXPORT_WINDOW_MS } from '../../contract/audit-export.ts';
import type { AuditEvent, AuditExportQueries, AuditPosition } from '../../store/queries/audit-export.ts';
import type { ExportDestinationRecord, ExportTarget } from '../../store/queries/audit-export-destinations.ts';

/** Rows that are read at a time, and most rows and bytes (before compression) of an object: it is held in memory. */
const ROWS_A_READ = 500;
const MAX_ROWS = 20_000;
const MAX_BYTES = 8 * 1024 * 1024;

/** The beginning of the window of event time that a moment lies in. Hours hold whole windows. */
export function windowOf(at: Date): Date {
  return new Date(Math.floor(at.getTime() / EXPORT_WINDOW_MS) * EXPORT_WINDOW_MS);
}

/** The end of that window. */
export function windowEndOf(at: Date): Date {
  return new Date(windowOf(at).getTime() + EXPORT_WINDOW_MS);
}

/** What the names of a destination's objects begin with, without a slash at either end. */
export function folderOf({ id, organizationId, prefix }: ExportTarget): string {
  const parent = prefix.replaceAll(/^\/+|\/+$/g, '');
  return `${parent === '' ? '' : `${parent}/`}destination_id=${id}/org_id=${organizationId}`;
}

/** An object as it is put: gzip-compressed JSON lines. */
export interface ExportObject {
  key: string;
  body: Buffer;
}

/** An object, and how far the log is delivered with it. */
export interface NextObject extends ExportObject {
  to: AuditPosition;
}

/**
 * The next object of a destination: rows of one window, as many as fit. Null when there is no row before `until`, the end of the
 * last window that commits. Its name comes of the window and its first row, so that the same rows have the same name, and a late
 * row, which others move aside for, can make an object more but never take the place of one with other rows.
 */
export async function nextObject(
  log: AuditExportQueries,
  destination: ExportDestinationRecord,
  until: Date,
): Promise<NextObject | null> {
  const { organizationId, position } = destination;
  const [next] = await log.read(organizationId, { after: position, before: until, limit: 1 });
  if (next === undefined) return null;
  const window = windowOf(next.position.at);
  const end = windowEndOf(window);
  const begin = position.at < window ? { at: window, seq: 0 } : position;
  const taken = { first: next, to: { at: end, seq: 0 } };

  async function* lines(): AsyncGenerator<string> {
    let rows = 0;
    let bytes = 0;
    let after = begin;
    for (;;) {
      const events = await log.read(organizationId, { after, before: end, limit: ROWS_A_READ });
      for (const event of events) {
        if (rows === 0) taken.first = event;
        if (rows === MAX_ROWS || bytes >= MAX_BYTES) {
          taken.to = after;
          return;
        }
        const line = `${JSON.stringify({ event_id: event.eventId, ...event.entry })}\n`;
        rows += 1;
        bytes += Buffer.byteLength(line);
        after = event.position;
        yield line;
      }
      if (events.length < ROWS_A_READ) return;
    }
  }

  const pieces: Buffer[] = [];
  await pipeline(lines, createGzip(), async (compressed: AsyncIterable<Buffer>) => {
    for await (const piece of compressed) pieces.push(piece);
  });
  return { key: keyOf(destination, window, taken.first), body: Buffer.concat(pieces), to: taken.to };
}

function keyOf(target: ExportTarget, window: Date, first: AuditEvent): string {
  const [date = '', time = ''] = window.toISOString().split('T');
  const name = `${date.replaceAll('-', '')}T${time.slice(0, 5).replace(':', '')}Z-${first.eventId}.jsonl.gz`;
  return `${folderOf(target)}/date=${date}/hour=${time.slice(0, 2)}/${name}`;
}
