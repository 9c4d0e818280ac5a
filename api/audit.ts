import type { FastifyReply, FastifyRequest } from 'fastify';
import type { AuditEntry } from '../store/queries/audit-log.ts';
import type { ApiDeps } from './context.ts';

/**
 * Writes the audit row of a request before its answer leaves: of everything that changes something, and of reads that
 * answer a secret. Plain reads and refused strangers are not recorded (a stranger belongs to no organization).
 * A secret is not sent when its row cannot be written; other answers are, and the fault is logged.
 */
export async function auditBeforeAnswer(deps: ApiDeps, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  const config = request.routeOptions.config;
  const answersSecret = config.answersSecret === true && reply.statusCode < 400;
  const changes = !['GET', 'HEAD', 'OPTIONS'].includes(request.method) && config.unaudited !== true;
  const entry = answersSecret || changes ? entryOf(deps, request, reply) : null;
  if (entry === null) return;
  try {
    await deps.store.auditLog.append(entry);
  } catch (error) {
    if (answersSecret) throw error;
    deps.logger.error({ request_id: request.id, route: entry.route }, 'audit row could not be written');
  }
}

function entryOf(deps: ApiDeps, request: FastifyRequest, reply: FastifyReply): AuditEntry | null {
  const scope = request.caller?.scope ?? request.auditScope;
  if (scope === null) return null;
  const key = request.caller?.kind === 'api_key' ? request.caller.key : null;
  const strategy = request.caller?.kind === 'hosted' ? 'hosted_page' : 'handoff_code';
  return {
    timestamp: deps.clock(),
    organizationId: scope.organizationId,
    projectId: scope.projectId,
    authStrategy: key === null ? strategy : 'api_key',
    userId: key?.createdBy.id ?? '',
    email: key?.createdBy.email ?? '',
    status: reply.statusCode,
    method: request.method,
    path: cut(request.url.split('?', 1)[0] ?? '', 2048),
    route: request.routeOptions.url ?? '',
    domain: cut(request.headers.host ?? '', 255),
    durationMs: Math.round(reply.elapsedTime),
    clientIp: request.ip,
    userAgent: cut(request.headers['user-agent'] ?? '', 512),
  };
}

function cut(text: string, length: number): string {
  return text.length > length ? text.slice(0, length) : text;
}
