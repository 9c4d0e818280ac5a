import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { z } from 'zod';
import { AuditLogEntry, AuditLogExportQuery, AuditLogQuery } from '../contract/audit-logs.ts';
import { refusals } from './answer-schemas.ts';
import { keyCallerOf } from './caller.ts';
import type { ApiServer } from './context.ts';
import type { ApiParts } from './parts.ts';

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
      response: { 200: z.array(AuditLogEntry), ...refusals(400, 401, 403) },
    },
    handler: async (request, reply) => {
      const { limit = ROWS_A_PAGE, page_token: after, ...filters } = request.query;
      const { rows, next } = await store.auditLog.page(keyCallerOf(request).scope, { ...filters, limit, after });
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
        ...refusals(400, 401, 403),
      },
    },
    serializerCompiler: () => String,
    handler: async (request, reply) => {
      const { limit = ROWS_A_CHUNK, cursor: after, format = 'jsonl.gz', ...filters } = request.query;
      const { rows, next } = await store.auditLog.page(keyCallerOf(request).scope, { ...filters, limit, after });
      const lines = Buffer.from(rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
      const chunk = format === 'jsonl' ? lines : await promisify(gzip)(lines);
      void reply.headers({
        'content-type': 'application/octet-stream',
        'x-row-count': String(rows.length),
        'x-has-more': String(next !== null),
        'x-content-sha256': createHash('sha256').update(chunk).digest('hex'),
        ...(next !== null && { 'x-next-cursor': next }),
      });
      return reply.send(chunk);
    },
  });
}
