import { z } from 'zod';
import { ConnectionSubmit } from '../../contract/connections.ts';
import { expireOverdue } from '../../contract/document.ts';
import { HoldfastError } from '../../contract/errors.ts';
import { IdParams, refusals } from '../answer-schemas.ts';
import { callerOf } from '../caller.ts';
import type { ApiServer } from '../context.ts';
import type { ApiParts } from '../parts.ts';
import { submitAnswer } from './submit-answer.ts';

const Answer = z.strictObject({ accepted: z.literal(true) });

/** `POST /auth/connections/{id}/submit`: a person's answer to the pause. 202 once the workflow has taken it. */
export function registerSubmit(app: ApiServer, parts: ApiParts): void {
  app.route({
    method: 'POST',
    url: '/auth/connections/:id/submit',
    config: { access: 'hosted' },
    schema: {
      operationId: 'submitAuthConnection',
      tags: ['auth connections'],
      params: IdParams,
      body: ConnectionSubmit,
      response: { 202: Answer, ...refusals(400, 401, 404, 410, 422) },
    },
    handler: async (request, reply) => {
      const caller = callerOf(request);
      const row = await parts.answers.find(caller, request.params.id);
      const { flow } = row.document;
      if (caller.kind === 'hosted' && flow && expireOverdue(flow, parts.clock()).flow_status !== 'IN_PROGRESS') {
        throw new HoldfastError('gone', 'this login has ended');
      }
      await submitAnswer(parts, row, request.body);
      return reply.code(202).send({ accepted: true });
    },
  });
}
