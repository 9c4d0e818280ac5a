import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { AuditedCall, AuditPrincipal, AuditTrail } from './audit-trail.ts';
import { hasBrowserToken } from '../browsers/forwarding.ts';
import { creatorOf, isPrincipal, type Caller } from '../caller.ts';
import type { ApiParts } from '../parts.ts';

/** Captured when a request arrives, since its socket may be gone by the time of the response. */
interface Received {
  at: Date;
  ip: string;
}

/**
 * Writes an audit row for every request, including plain reads and rejected requests. Responses that contain a secret, and those
 * to requests that change something, are sent after their row is written: a secret is withheld if the write fails, otherwise
 * the failure is logged. Rows of anonymous requests are written in the background.
 */
export function auditRequests(
  app: FastifyInstance,
  trail: AuditTrail,
  deps: Pick<ApiParts, 'store' | 'clock' | 'logger'>,
) {
  const secretRoutes = new Set<string>();
  app.decorate('secretRoutes', secretRoutes);
  app.addHook('onRoute', ({ method, url, config }) => {
    if (config?.returnsSecret === undefined || config.returnsSecret === false) return;
    for (const each of [method].flat()) secretRoutes.add(`${each} ${url}`);
  });

  // A request is removed when its row is written or about to be.
  const unwritten = new WeakMap<FastifyRequest, Received>();
  const take = (request: FastifyRequest, reply: FastifyReply): AuditedCall | null => {
    const received = unwritten.get(request);
    unwritten.delete(request);
    if (received === undefined || request.routeOptions.config.unaudited === true || request.method === 'OPTIONS')
      return null;
    return toAuditedCall(request, received, reply.statusCode, reply.elapsedTime);
  };
  app.addHook('onRequest', (request, _reply, done) => {
    unwritten.set(request, { at: deps.clock(), ip: request.ip });
    done();
  });
  app.addHook('onSend', async (request, reply, payload) => {
    const { returnsSecret = false } = request.routeOptions.config;
    const containsSecret =
      reply.statusCode < 400 && (typeof returnsSecret === 'function' ? returnsSecret(payload) : returnsSecret);
    const changes = !['GET', 'HEAD', 'OPTIONS'].includes(request.method);
    if (!containsSecret && !changes) return;
    const principal = await principalOf(request);
    const call = principal === null ? null : take(request, reply);
    if (principal === null || call === null) return;
    try {
      await trail.write(principal, call);
    } catch (error) {
      if (containsSecret) throw error;
      deps.logger.error({ request_id: request.id, route: call.route }, 'audit row could not be written');
    }
  });
  // Reads, anonymous requests and hijacked responses are recorded in the background.
  app.addHook('onResponse', (request, reply, done) => {
    const call = take(request, reply);
    if (call !== null) record(request, call);
    done();
  });
  app.addHook('onClose', () => trail.close());

  function record(request: FastifyRequest, call: AuditedCall): void {
    const { access } = request.routeOptions.config;
    const isError = call.status >= 400;
    if (request.caller === null && request.auditPrincipal === null && request.auditConnection === null) {
      if (access === 'browser_token' && !isError && hasBrowserToken(request.query))
        trail.recordBrowserToken(String(request.query.jwt), call);
      // Successful public reads are not audited.
      else if (isError || access !== 'public' || !['GET', 'HEAD'].includes(request.method)) trail.recordAnonymous(call);
      return;
    }
    principalOf(request).then(
      (principal) => (principal === null ? trail.recordAnonymous(call) : trail.record(principal, call)),
      () => deps.logger.error({ request_id: request.id, route: call.route }, 'audit row could not be written'),
    );
  }

  async function principalOf({
    caller,
    auditPrincipal,
    auditConnection,
  }: FastifyRequest): Promise<AuditPrincipal | null> {
    if (caller !== null) return principalOfCaller(caller);
    if (auditPrincipal !== null) return auditPrincipal;
    const row = auditConnection === null ? null : await deps.store.connections.byIdUnscoped(auditConnection);
    if (row === null) return null;
    const { organizationId, projectId } = row;
    return { scope: { organizationId, projectId }, strategy: 'hosted_page', userId: '', email: '' };
  }
}

function principalOfCaller(caller: Caller): AuditPrincipal {
  const { scope } = caller;
  if (!isPrincipal(caller))
    return { scope, strategy: caller.kind === 'hosted' ? 'hosted_page' : 'code_token', userId: '', email: '' };
  const { id, email } = creatorOf(caller);
  return { scope, strategy: caller.kind === 'user' ? caller.source : 'api_key', userId: id, email };
}

/** Describes a request for the audit log. */
export function toAuditedCall(
  request: FastifyRequest,
  received: Received,
  status: number,
  durationMs: number,
): AuditedCall {
  const { method, url, headers, routeOptions } = request;
  return { ...received, method, url, route: routeOptions.url ?? '', headers, status, durationMs };
}
