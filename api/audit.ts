import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { AuditRecord } from '../store/queries/audit-log.ts';
import type { ApiDeps } from './context.ts';

/** Most rows that one write takes. */
const ROWS_A_WRITE = 500;

/** What is known of a request only while it arrives: its socket may be gone when it is answered. */
interface Received {
  at: Date;
  ip: string;
}

/** Writes rows of the audit log, those that wait at the same time in one write. */
interface AuditWriter {
  /** Resolves when the row is in the log; rejects when it could not be written. */
  write(record: AuditRecord): Promise<void>;
  /** Resolves when nothing waits any more. */
  drain(): Promise<void>;
}

/**
 * Keeps the audit log of a service: a row of every request whose organization is known, plain reads and refused ones
 * included (a stranger belongs to no organization). Answers that hold a secret, and those of requests that change
 * something, leave when their row is written; a secret is not sent without it, and other faults are logged.
 */
export function auditRequests(app: FastifyInstance, deps: ApiDeps): void {
  const writer = createAuditWriter(deps);
  const report = (request: FastifyRequest): void =>
    deps.logger.error({ request_id: request.id, route: routeOf(request) }, 'audit row could not be written');

  // A request is taken out of it when its row is written, or about to be.
  const unwritten = new WeakMap<FastifyRequest, Received>();
  const take = (request: FastifyRequest, reply: FastifyReply): AuditRecord | null => {
    const received = unwritten.get(request);
    unwritten.delete(request);
    return received === undefined ? null : recordOf(request, reply, received);
  };
  app.addHook('onRequest', (request, _reply, done) => {
    unwritten.set(request, { at: deps.clock(), ip: request.ip });
    done();
  });
  app.addHook('onSend', async (request, reply) => {
    const answersSecret = request.routeOptions.config.answersSecret === true && reply.statusCode < 400;
    const changes = !['GET', 'HEAD', 'OPTIONS'].includes(request.method);
    if (!answersSecret && !changes) return;
    const record = take(request, reply);
    if (record === null) return;
    try {
      await writer.write(record);
    } catch (error) {
      if (answersSecret) throw error;
      report(request);
    }
  });
  // Reads, and what takes its socket for itself: nobody waits for these.
  app.addHook('onResponse', (request, reply, done) => {
    const record = take(request, reply);
    if (record !== null) writer.write(record).catch(() => report(request));
    done();
  });
  app.addHook('onClose', () => writer.drain());
}

function createAuditWriter({ store }: Pick<ApiDeps, 'store'>): AuditWriter {
  const waiting: AuditRecord[] = [];
  /** Writes what waits; those who come while another write is under way share the next one. */
  let next: Promise<void> | null = null;
  let last: Promise<void> = Promise.resolve();

  const writeAll = async (): Promise<void> => {
    await last.catch(() => undefined);
    next = null;
    const batch = waiting.splice(0);
    for (let from = 0; from < batch.length; from += ROWS_A_WRITE)
      await store.auditLog.append(batch.slice(from, from + ROWS_A_WRITE));
  };
  return {
    write: (record) => {
      waiting.push(record);
      if (next === null) last = next = writeAll();
      return next;
    },
    drain: () => last.catch(() => undefined),
  };
}

const STRATEGIES = { api_key: 'api_key', hosted: 'hosted_page', codes: 'code_token', none: 'handoff_code' } as const;

function recordOf(request: FastifyRequest, reply: FastifyReply, { at, ip }: Received): AuditRecord | null {
  const scope = request.caller?.scope ?? request.auditScope;
  if (scope === null || request.routeOptions.config.unaudited === true || request.method === 'OPTIONS') return null;
  const key = request.caller?.kind === 'api_key' ? request.caller.key : null;
  return {
    organizationId: scope.organizationId,
    projectId: scope.projectId,
    entry: {
      timestamp: at.toISOString(),
      auth_strategy: STRATEGIES[request.caller?.kind ?? 'none'],
      user_id: key?.createdBy.id ?? '',
      email: key?.createdBy.email ?? '',
      status: reply.statusCode,
      method: request.method,
      path: cut(request.url.split('?', 1)[0] ?? '', 2048),
      route: routeOf(request),
      domain: cut(request.headers.host ?? '', 255),
      duration_ms: Math.round(reply.elapsedTime),
      client_ip: ip,
      user_agent: cut(request.headers['user-agent'] ?? '', 512),
    },
  };
}

function routeOf(request: FastifyRequest): string {
  return request.routeOptions.url ?? '';
}

function cut(text: string, length: number): string {
  return text.length > length ? text.slice(0, length) : text;
}
