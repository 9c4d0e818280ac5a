import { z } from 'zod';
import { AuditLogEntry, AuditLogExportQuery, AuditLogQuery } from '../contract/audit-logs.ts';
import { readAuditChunk } from './audit-chunk.ts';
import { principalCallerOf } from './caller.ts';
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
