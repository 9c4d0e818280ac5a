import { z } from 'zod';
import { findCodeOrLink } from '../../codes/receive.ts';
import { ConnectionCode } from '../../contract/connections.ts';
import { HoldfastError, invalidField } from '../../contract/errors.ts';
import { IdParams, refusals } from '../answer-schemas.ts';
import { callerOf, principalCallerOf } from '../caller.ts';
import type { ApiServer } from '../context.ts';
import type { ApiParts } from '../parts.ts';

/** How long a token is good where nothing else is said, in days. */
const DEFAULT_TOKEN_DAYS = 90;
const DAY_MS = 24 * 60 * 60_000;

const Answer = z.strictObject({ accepted: z.literal(true) });

/**
 * `POST /auth/connections/{id}/codes`: a one-time code, or the message that holds it or a sign-in link, for the flow in progress. It
 * is typed, or opened, when the flow comes to its step, within three minutes; the newest code wins.
 */
export function registerCodes(app: ApiServer, { answers, inbox }: ApiParts): void {
  app.route({
    method: 'POST',
    url: '/auth/connections/:id/codes',
    config: { access: 'codes' },
    schema: {
      operationId: 'giveAuthConnectionCode',
      tags: ['auth connections'],
      params: IdParams,
      body: ConnectionCode,
      response: { 202: Answer, ...refusals(422) },
    },
    handler: async (request, reply) => {
      const row = await answers.find(callerOf(request), request.params.id);
      const { code: given, text = '' } = request.body;
      const found = given === undefined ? findCodeOrLink({ text }, row.document) : { code: given, link: null };
      if (found === null)
        throw invalidField(
          'text',
          "holds no code, or several, and no sign-in link to the connection's site; send the code itself as `code`",
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
 * `POST /auth/connections/{id}/codes/tokens`: a token that may give codes to this connection and do nothing else, for a phone or a
 * mail rule. It is good until it expires or the connection is deleted.
 */
export function registerCodeTokens(app: ApiServer, { answers, codeTokens, clock }: ApiParts): void {
  app.route({
    method: 'POST',
    url: '/auth/connections/:id/codes/tokens',
    config: { answersSecret: true },
    schema: {
      operationId: 'createAuthConnectionCodeToken',
      tags: ['auth connections'],
      params: IdParams,
      body: TokenBody,
      response: { 201: Token },
    },
    handler: async (request, reply) => {
      const { id } = await answers.find(principalCallerOf(request), request.params.id);
      const days = request.body?.days_to_expire ?? DEFAULT_TOKEN_DAYS;
      const expiresAt = new Date(clock().getTime() + days * DAY_MS);
      const token = await codeTokens.mint(id, expiresAt);
      return reply.code(201).send({ token, expires_at: expiresAt.toISOString() });
    },
  });
}
