import { z } from 'zod';
import { ConnectionLogin, LoginResponse } from '../../contract/connections.ts';
import { expireOverdue } from '../../contract/document.ts';
import { HoldfastError } from '../../contract/errors.ts';
import { newId } from '../../contract/ids.ts';
import type { Scope } from '../../store/scope.ts';
import { IdParams, errorResponses } from '../response-schemas.ts';
import { principalCallerOf } from '../caller.ts';
import type { ApiServer } from '../context.ts';
import { omitUndefined } from '../nullish.ts';
import type { ApiParts } from '../parts.ts';
import { browserOf } from './settings.ts';

/** `POST /auth/connections/{id}/login`: starts a login flow; 409 while another is in progress. */
export function registerLogin(app: ApiServer, { store, connections, views }: ApiParts): void {
  app.route({
    method: 'POST',
    url: '/auth/connections/:id/login',
    config: { returnsSecret: true },
    schema: {
      operationId: 'loginAuthConnection',
      tags: ['auth connections'],
      params: IdParams,
      body: ConnectionLogin,
      response: { 200: LoginResponse, ...errorResponses(409) },
    },
    handler: async (request) => {
      const row = await views.find(principalCallerOf(request), request.params.id);
      const options = request.body ?? {};
      const project = { organizationId: row.organizationId, projectId: row.projectId };
      const accepted = await connections.login(
        row.id,
        omitUndefined({
          browser: await browserOf({ store }, project, options),
          recordSession: options.record_session,
        }),
      );
      // From the accepted document, not a newer one: the caller started this flow.
      const { flow } = accepted.document;
      await views.waitUntilRecorded(accepted);
      if (flow === null) throw new HoldfastError('operation_failed', 'The login did not start; try again');
      const link = views.hostedLink(row.id, flow.flow_id);
      return {
        id: row.id,
        flow_id: flow.flow_id,
        flow_type: flow.flow_type,
        hosted_url: link.url,
        flow_expires_at: flow.flow_expires_at,
        handoff_code: link.code,
        ...(flow.live_view_url === null ? {} : { live_view_url: flow.live_view_url }),
      };
    },
  });
}

const EXPIRED_LINK = 'This link has expired or was already used; ask for a new one';

const Body = z.strictObject({ code: z.string().min(1).max(512) });
const Answer = z.strictObject({ jwt: z.string(), invocation_id: z.string() });

/** `POST /auth/connections/{id}/exchange`: exchanges the handoff code of a hosted link for a token. Needs no bearer token. */
export function registerExchange(app: ApiServer, parts: ApiParts): void {
  app.route({
    method: 'POST',
    url: '/auth/connections/:id/exchange',
    config: { access: 'public', returnsSecret: true },
    schema: {
      operationId: 'exchangeHandoffCode',
      security: [],
      tags: ['auth connections'],
      params: IdParams,
      body: Body,
      response: { 200: Answer, ...errorResponses(404, 410) },
    },
    handler: async (request) => {
      const { jwt, scope } = await exchangeCode(parts, request.params.id, request.body.code);
      request.auditPrincipal = { scope, strategy: 'handoff_code', userId: '', email: '' };
      return { jwt, invocation_id: newId('inv') };
    },
  });
}

/**
 * Redeems a handoff code exactly once, even under concurrent calls. Throws `not_found` unless the code is for the connection's
 * current flow, and `gone` if it was used, has expired, or its flow has ended.
 */
export async function exchangeCode(
  parts: Pick<ApiParts, 'store' | 'handoffCodes' | 'hostedTokens' | 'clock'>,
  connectionId: string,
  code: string,
): Promise<{ jwt: string; flowId: string; scope: Scope }> {
  const row = await parts.store.connections.byIdUnscoped(connectionId);
  const flow = row?.document.flow ?? null;
  if (row === null || flow === null) throw new HoldfastError('not_found', 'This link is not valid; ask for a new one');
  const reading = parts.handoffCodes.read(code, connectionId, flow.flow_id);
  if (reading.outcome === 'unknown') throw new HoldfastError('not_found', 'This link is not valid; ask for a new one');
  if (reading.outcome === 'expired') throw new HoldfastError('gone', EXPIRED_LINK);
  if (expireOverdue(flow, parts.clock()).flow_status !== 'IN_PROGRESS') {
    throw new HoldfastError('gone', 'This login has ended; start a new one');
  }
  const first = await parts.store.handoffs.redeem(reading.hash, connectionId, flow.flow_id, reading.expiresAt);
  if (!first) throw new HoldfastError('gone', EXPIRED_LINK);
  const jwt = await parts.hostedTokens.mint({ connectionId, flowId: flow.flow_id });
  return { jwt, flowId: flow.flow_id, scope: { organizationId: row.organizationId, projectId: row.projectId } };
}
