import { z } from 'zod';
import { findCodeOrLink } from '../../codes/receive.ts';
import { ConnectionCode } from '../../contract/connections.ts';
import { HoldfastError, invalidField } from '../../contract/errors.ts';
import { IdParams, errorResponses } from '../response-schemas.ts';
import { callerOf, principalCallerOf } from '../caller.ts';
import type { ApiServer } from '../context.ts';
import type { ApiParts } from '../parts.ts';

/** Default lifetime of a code token, in days. */
const DEFAULT_TOKEN_DAYS = 90;
const DAY_MS = 24 * 60 * 60_000;

const Answer = z.strictObject({ accepted: z.literal(true) });

/**
 * `POST /auth/connections/{id}/codes`: supplies a one-time code, or a message with a code or sign-in link, to the flow in progress.
 * The flow uses it when it reaches that step, within three minutes; the newest code wins.
 */
export function registerCodes(app: ApiServer, { views, inbox }: ApiParts): void {
  app.route({
    method: 'POST',
    url: '/auth/connections/:id/codes',
    config: { access: 'codes' },
    schema: {
      operationId: 'giveAuthConnectionCode',
      tags: ['auth connections'],
      params: IdParams,
      body: ConnectionCode,
      response: { 202: Answer, ...errorResponses(422) },
    },
    handler: async (request, reply) => {
      const row = await views.find(callerOf(request), request.params.id);
      const { code: given, text = '' } = request.body;
      const found = given === undefined ? findCodeOrLink({ text }, row.document) : { code: given, link: null };
      if (found === null)
        throw invalidField(
          'text',
          "contains no code, or several, and no sign-in link to the connection's site; send the code itself as `code`",
        );
      if (!(await inbox.take(row.document, found))) {
        throw new HoldfastError(
          'not_awaiting_input',
          'No login is in progress on this connection; send a code once `flow_status` is IN_PROGRESS',
        );
      }
      return reply.code(202).send({ accepted: true });
    },
  });
}

const TokenBody = z.strictObject({ days_to_expire: z.int().min(1).max(365).default(DEFAULT_TOKEN_DAYS) }).nullish();
const Token = z.strictObject({ token: z.string(), expires_at: z.string() });

/**
 * `POST /auth/connections/{id}/codes/tokens`: creates a token that may only send codes to this connection, for a phone or mail
 * rule. It is valid until it expires or the connection is deleted.
 */
export function registerCodeTokens(app: ApiServer, { views, codeTokens, clock }: ApiParts): void {
  app.route({
    method: 'POST',
    url: '/auth/connections/:id/codes/tokens',
    config: { returnsSecret: true },
    schema: {
      operationId: 'createAuthConnectionCodeToken',
      tags: ['auth connections'],
      params: IdParams,
      body: TokenBody,
      response: { 201: Token },
    },
    handler: async (request, reply) => {
      const { id } = await views.find(principalCallerOf(request), request.params.id);
      const days = request.body?.days_to_expire ?? DEFAULT_TOKEN_DAYS;
      const expiresAt = new Date(clock().getTime() + days * DAY_MS);
      const token = await codeTokens.mint(id, expiresAt);
      return reply.code(201).send({ token, expires_at: expiresAt.toISOString() });
    },
  });
}
