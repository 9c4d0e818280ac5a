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
const DEFAULT_PAGE_ROWS = 100;
const DEFAULT_CHUNK_ROWS = 10_000;
/** Rows per read from the store. */
const BATCH_ROWS = 1000;
/** A chunk ends once it has this many bytes of JSON, about twice fifty thousand rows of the usual length. */
const MAX_CHUNK_BYTES = 32 * 1024 * 1024;

/** Registers reading and exporting the audit log. A project's key sees the rows of that project. */
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
      const { limit = DEFAULT_PAGE_ROWS, page_token: after, ...filters } = request.query;
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
      const { limit = DEFAULT_CHUNK_ROWS, cursor, format = 'jsonl.gz', ...filters } = request.query;
      const { scope } = principalCallerOf(request);
      const { rows, bytes, sha256, next, body } = await readAuditChunk(
        (batchLimit, after) => store.auditLog.page(scope, { ...filters, limit: batchLimit, after, token: 'cursor' }),
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

type ReadBatch = (limit: number, after: string | undefined) => Promise<{ rows: AuditLogEntry[]; next: string | null }>;

/**
 * Reads a chunk in batches, with the length and digest of its body, and the cursor of the next chunk (null for the last). Memory
 * holds one batch, and the rest compressed to about forty bytes a row; plain lines are decompressed again while they are sent.
 */
async function readAuditChunk(
  read: ReadBatch,
  { format, limit, after }: { format: 'jsonl' | 'jsonl.gz'; limit: number; after: string | undefined },
) {
  const gzip = createGzip();
  const compressed: Buffer[] = [];
  const plainHash = createHash('sha256');
  gzip.on('data', (part: Buffer) => compressed.push(part));
  let rows = 0;
  let plainBytes = 0;
  let next = after ?? null;
  do {
    const batch = await read(Math.min(BATCH_ROWS, limit - rows), next ?? undefined);
    const lines = Buffer.from(batch.rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
    rows += batch.rows.length;
    plainBytes += lines.length;
    ({ next } = batch);
    plainHash.update(lines);
    if (!gzip.write(lines)) await once(gzip, 'drain');
  } while (next !== null && rows < limit && plainBytes < MAX_CHUNK_BYTES);
  gzip.end();
  await once(gzip, 'end');
  if (format === 'jsonl') {
    const body = Readable.from(compressed).pipe(createGunzip());
    return { rows, bytes: plainBytes, sha256: plainHash.digest('hex'), next, body };
  }
  const hash = createHash('sha256');
  for (const part of compressed) hash.update(part);
  const bytes = compressed.reduce((sum, part) => sum + part.length, 0);
  return { rows, bytes, sha256: hash.digest('hex'), next, body: Readable.from(compressed) };
}
