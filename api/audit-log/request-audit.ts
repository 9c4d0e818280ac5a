import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { AuditedCall, AuditPrincipal, AuditTrail } from './audit-trail.ts';
import { hasBrowserToken } from '../browsers/forwarding.ts';
import { creatorOf, isPrincipal, type Caller } from '../caller.ts';
import type { ApiParts } from '../parts.ts';

/** What is known of a request only while it arrives: its socket may be gone when it is answered. */
interface Received {
  at: Date;
  ip: string;
}

/**
 * Keeps the audit log of a service: a row of every request, plain reads and refused ones included. Answers that hold a
 * secret, and those of requests that change something, leave when their row is written; a secret is not sent without it, and
 * other faults are logged. Strangers are not waited for (audit-trail.ts).
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

  // A request is taken out of it when its row is written, or about to be.
  const unwritten = new WeakMap<FastifyRequest, Received>();
  const take = (request: FastifyRequest, reply: FastifyReply): AuditedCall | null => {
    const received = unwritten.get(request);
    unwritten.delete(request);
    if (received === undefined || request.routeOptions.config.unaudited === true || request.method === 'OPTIONS')
      return null;
    return callOf(request, received, reply.statusCode, reply.elapsedTime);
  };
  app.addHook('onRequest', (request, _reply, done) => {
    unwritten.set(request, { at: deps.clock(), ip: request.ip });
    done();
  });
  app.addHook('onSend', async (request, reply, payload) => {
    const { returnsSecret = false } = request.routeOptions.config;
    const holdsSecret =
      reply.statusCode < 400 && (typeof returnsSecret === 'function' ? returnsSecret(payload) : returnsSecret);
    const changes = !['GET', 'HEAD', 'OPTIONS'].includes(request.method);
    if (!holdsSecret && !changes) return;
    const owner = await ownerOf(request);
    const call = owner === null ? null : take(request, reply);
    if (owner === null || call === null) return;
    try {
      await trail.write(owner, call);
    } catch (error) {
      if (holdsSecret) throw error;
      deps.logger.error({ request_id: request.id, route: call.route }, 'audit row could not be written');
    }
  });
  // Reads, strangers, and what takes its socket for itself: nobody waits for these.
  app.addHook('onResponse', (request, reply, done) => {
    const call = take(request, reply);
    if (call !== null) note(request, call);
    done();
  });
  app.addHook('onClose', () => trail.close());

  function note(request: FastifyRequest, call: AuditedCall): void {
    const { access } = request.routeOptions.config;
    const isRefused = call.status >= 400;
    if (request.caller === null && request.auditPrincipal === null && request.auditConnection === null) {
      if (access === 'browser_token' && !isRefused && hasBrowserToken(request.query))
        trail.recordBrowserToken(tokenOf(request.query), call);
      // What everybody may read tells nothing of anybody.
      else if (isRefused || access !== 'public' || !['GET', 'HEAD'].includes(request.method))
        trail.recordAnonymous(call);
      return;
    }
    ownerOf(request).then(
      (owner) => (owner === null ? trail.recordAnonymous(call) : trail.note(owner, call)),
      () => deps.logger.error({ request_id: request.id, route: call.route }, 'audit row could not be written'),
    );
  }

  async function ownerOf({ caller, auditPrincipal, auditConnection }: FastifyRequest): Promise<AuditPrincipal | null> {
    if (caller !== null) return ownerOfCaller(caller);
    if (auditPrincipal !== null) return auditPrincipal;
    const row = auditConnection === null ? null : await deps.store.connections.byIdUnscoped(auditConnection);
    if (row === null) return null;
    const { organizationId, projectId } = row;
    return { scope: { organizationId, projectId }, strategy: 'hosted_page', userId: '', email: '' };
  }
}

/** Whom the row of a known caller belongs to. */
function ownerOfCaller(caller: Caller): AuditPrincipal {
  const { scope } = caller;
  if (!isPrincipal(caller))
    return { scope, strategy: caller.kind === 'hosted' ? 'hosted_page' : 'code_token', userId: '', email: '' };
  const { id, email } = creatorOf(caller);
  return { scope, strategy: caller.kind === 'user' ? caller.source : 'api_key', userId: id, email };
}

/** A request as the audit log has it. */
export function callOf(request: FastifyRequest, received: Received, status: number, durationMs: number): AuditedCall {
  const { method, url, headers, routeOptions } = request;
  return { ...received, method, url, route: routeOptions.url ?? '', headers, status, durationMs };
}

function tokenOf(query: unknown): string {
  return typeof query === 'object' && query !== null && 'jwt' in query ? String(query.jwt) : '';
}
