import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { Readable } from 'node:stream';
import { createGunzip, createGzip } from 'node:zlib';
import { z } from 'zod';
import { AuditLogEntry, AuditLogExportQuery, AuditLogQuery } from '../../contract/audit-logs.ts';
import { principalCallerOf } from '../caller.ts';
import type { ApiServer } from '../context.ts';
import type { ApiParts } from '../parts.ts';

const tags = ['audit log'];
const ROWS_A_PAGE = 100;
const ROWS_A_CHUNK = 10_000;

/** Reading the audit log: by pages, and whole. A key of one project sees the rows of that project. */
export function registerAuditLogs(app: ApiServer, { store }: ApiParts): void {
  app.route({
    method: 'GET',
    url: '/audit-logs',
    schema: {
      operationId: 'listAuditLogs',
      tags,
      querystring: AuditLogQuery,
      response: { 200: z.array(AuditLogEntry) },
    },
    handler: async (request, reply) => {
      const { limit = ROWS_A_PAGE, page_token: after, ...filters } = request.query;
      const { rows, next } = await store.auditLog.page(principalCallerOf(request).scope, { ...filters, limit, after });
      void reply.header('x-has-more', String(next !== null));
      if (next !== null) void reply.header('x-next-page-token', next);
      return rows;
    },
  });
  app.route({
    method: 'GET',
    url: '/audit-logs/export/chunk',
    schema: {
      operationId: 'exportAuditLogChunk',
      tags,
      querystring: AuditLogExportQuery,
      response: {
        200: z.any().describe('JSON lines, gzip-compressed unless `format` is `jsonl`'),
      },
    },
    serializerCompiler: () => String,
    handler: async (request, reply) => {
      const { limit = ROWS_A_CHUNK, cursor, format = 'jsonl.gz', ...filters } = request.query;
      const { scope } = principalCallerOf(request);
      const { rows, bytes, sha256, next, body } = await readAuditChunk(
        (ofBatch, after) => store.auditLog.page(scope, { ...filters, limit: ofBatch, after, token: 'cursor' }),
        { limit, after: cursor, format },
      );
      void reply.headers({
        'content-type': 'application/octet-stream',
        'content-length': String(bytes),
        'x-row-count': String(rows),
        'x-has-more': String(next !== null),
        'x-content-sha256': sha256,
        ...(next !== null && { 'x-next-cursor': next }),
      });
      return reply.send(body);
    },
  });
}

/** Rows that are read from the store at a time. */
const ROWS_A_BATCH = 1000;
/** A chunk takes no further batch once it has so many bytes of JSON: fifty thousand rows of the usual length have half of it. */
const BYTES_A_CHUNK = 32 * 1024 * 1024;

/** Part of an export. Its headers are known before its first byte is sent: readers check its digest. */
export interface AuditChunk {
  rows: number;
  /** Length of the body, in bytes. */
  bytes: number;
  /** Of the body, in hex. */
  sha256: string;
  /** Where the next chunk begins; null when none follows. */
  next: string | null;
  body: Readable;
}

/** What is asked of a chunk. */
export interface AuditChunkRequest {
  format: 'jsonl' | 'jsonl.gz';
  /** Most rows. */
  limit: number;
  after: string | undefined;
}

type ReadBatch = (limit: number, after: string | undefined) => Promise<{ rows: AuditLogEntry[]; next: string | null }>;

/**
 * Reads a chunk batch by batch. Memory holds one batch, and what the others are compressed to: some forty bytes a row. As plain
 * lines it is unpacked again while it is sent.
 */
export async function readAuditChunk(
  read: ReadBatch,
  { format, limit, after }: AuditChunkRequest,
): Promise<AuditChunk> {
  const gzip = createGzip();
  const packed: Buffer[] = [];
  const plainHash = createHash('sha256');
  gzip.on('data', (part: Buffer) => packed.push(part));
  let rows = 0;
  let plainBytes = 0;
  let next = after ?? null;
  do {
    const batch = await read(Math.min(ROWS_A_BATCH, limit - rows), next ?? undefined);
    const lines = Buffer.from(batch.rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
    rows += batch.rows.length;
    plainBytes += lines.length;
    ({ next } = batch);
    plainHash.update(lines);
    if (!gzip.write(lines)) await once(gzip, 'drain');
  } while (next !== null && rows < limit && plainBytes < BYTES_A_CHUNK);
  gzip.end();
  await once(gzip, 'end');
  if (format === 'jsonl') {
    const body = Readable.from(packed).pipe(createGunzip());
    return { rows, bytes: plainBytes, sha256: plainHash.digest('hex'), next, body };
  }
  const hash = createHash('sha256');
  for (const part of packed) hash.update(part);
  const bytes = packed.reduce((sum, part) => sum + part.length, 0);
  return { rows, bytes, sha256: hash.digest('hex'), next, body: Readable.from(packed) };
}
