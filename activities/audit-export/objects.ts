import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { EXPORT_WINDOW_MS } from '../../contract/audit-export.ts';
import type { AuditEvent, AuditExportQueries, AuditPosition } from '../../store/queries/audit-export.ts';
import type { ExportDestinationRecord, ExportTarget } from '../../store/queries/audit-export-destinations.ts';

/** Batch size, and maximum rows and uncompressed bytes of an object, which is held in memory. */
const ROWS_PER_READ = 500;
const MAX_ROWS = 20_000;
const MAX_BYTES = 8 * 1024 * 1024;

/** Start of the window of event time that contains a date. Hours consist of whole windows. */
export function windowOf(at: Date): Date {
  return new Date(Math.floor(at.getTime() / EXPORT_WINDOW_MS) * EXPORT_WINDOW_MS);
}

/** End of that window. */
export function windowEndOf(at: Date): Date {
  return new Date(windowOf(at).getTime() + EXPORT_WINDOW_MS);
}

/** Key prefix of a destination's objects, without leading or trailing slash. */
export function folderOf({ id, organizationId, prefix }: ExportTarget): string {
  const parent = prefix.replaceAll(/^\/+|\/+$/g, '');
  return `${parent === '' ? '' : `${parent}/`}destination_id=${id}/org_id=${organizationId}`;
}

/** An object of gzip-compressed JSON lines. */
export interface ExportObject {
  key: string;
  body: Buffer;
}

interface NextObject extends ExportObject {
  to: AuditPosition;
}

/**
 * Builds the next object of a destination: as many rows of one window as fit. Null if there is no row before `until`, the end of the
 * last committed window. The key derives from the window and the first row, so the same rows always have the same key, and a late
 * row may add an object but never overwrites one with other rows.
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
  const start = position.at < window ? { at: window, seq: 0 } : position;
  const range = { first: next, to: { at: end, seq: 0 } };

  async function* lines(): AsyncGenerator<string> {
    let rows = 0;
    let bytes = 0;
    let after = start;
    for (;;) {
      const events = await log.read(organizationId, { after, before: end, limit: ROWS_PER_READ });
      for (const event of events) {
        if (rows === 0) range.first = event;
        if (rows === MAX_ROWS || bytes >= MAX_BYTES) {
          range.to = after;
          return;
        }
        const line = `${JSON.stringify({ event_id: event.eventId, ...event.entry })}\n`;
        rows += 1;
        bytes += Buffer.byteLength(line);
        after = event.position;
        yield line;
      }
      if (events.length < ROWS_PER_READ) return;
    }
  }

  const chunks: Buffer[] = [];
  await pipeline(lines, createGzip(), async (compressed: AsyncIterable<Buffer>) => {
    for await (const chunk of compressed) chunks.push(chunk);
  });
  return { key: keyOf(destination, window, range.first), body: Buffer.concat(chunks), to: range.to };
}

function keyOf(target: ExportTarget, window: Date, first: AuditEvent): string {
  const [date = '', time = ''] = window.toISOString().split('T');
  const name = `${date.replaceAll('-', '')}T${time.slice(0, 5).replace(':', '')}Z-${first.eventId}.jsonl.gz`;
  return `${folderOf(target)}/date=${date}/hour=${time.slice(0, 2)}/${name}`;
}
