import { z } from 'zod';
import { expireOverdue } from '../../contract/document.ts';
import { HoldfastError } from '../../contract/errors.ts';
import { newId } from '../../contract/ids.ts';
import type { Scope } from '../../store/scope.ts';
import { IdParams, refusals } from '../answer-schemas.ts';
import type { ApiServer } from '../context.ts';
import type { ApiParts } from '../parts.ts';

const Body = z.strictObject({ code: z.string().min(1).max(512) });
const Answer = z.strictObject({ jwt: z.string(), invocation_id: z.string() });

/** `POST /auth/connections/{id}/exchange`: the code of a hosted link for a token of that flow. No bearer. */
export function registerExchange(app: ApiServer, parts: ApiParts): void {
  app.route({
    method: 'POST',
    url: '/auth/connections/:id/exchange',
    config: { access: 'public', answersSecret: true },
    schema: {
      operationId: 'exchangeHandoffCode',
      security: [],
      tags: ['auth connections'],
      params: IdParams,
      body: Body,
      response: { 200: Answer, ...refusals(400, 404, 410) },
    },
    handler: async (request) => {
      const { jwt, scope } = await exchangeCode(parts, request.params.id, request.body.code);
      request.auditScope = scope;
      return { jwt, invocation_id: newId('inv') };
    },
  });
}

/**
 * Redeems a handoff code, once: of any number of callers at the same moment one gets a token. Throws `not_found` for a code
 * that is not for this connection's current flow, `gone` for one that was used or is too old, or whose flow has ended.
 */
export async function exchangeCode(
  parts: Pick<ApiParts, 'store' | 'codes' | 'tokens' | 'clock'>,
  connectionId: string,
  code: string,
): Promise<{ jwt: string; flowId: string; scope: Scope }> {
  const row = await parts.store.connections.byIdUnscoped(connectionId);
  const flow = row?.document.flow ?? null;
  if (row === null || flow === null) throw new HoldfastError('not_found', 'no such code; ask for a new link');
  const reading = parts.codes.read(code, connectionId, flow.flow_id);
  if (reading.outcome === 'unknown') throw new HoldfastError('not_found', 'no such code; ask for a new link');
  if (reading.outcome === 'expired') throw new HoldfastError('gone', 'this link is too old; ask for a new one');
  if (expireOverdue(flow, parts.clock()).flow_status !== 'IN_PROGRESS') {
    throw new HoldfastError('gone', 'this login has ended; start a new one');
  }
  const first = await parts.store.handoffs.redeem(reading.hash, connectionId, flow.flow_id, reading.expiresAt);
  if (!first) throw new HoldfastError('gone', 'this link was used already; ask for a new one');
  const jwt = await parts.tokens.mint({ connectionId, flowId: flow.flow_id });
  return { jwt, flowId: flow.flow_id, scope: { organizationId: row.organizationId, projectId: row.projectId } };
}
