import { z } from 'zod';
import { ConnectionSubmit } from '../../contract/connections.ts';
import { type FlowState, expireOverdue } from '../../contract/document.ts';
import { HoldfastError } from '../../contract/errors.ts';
import type { Interaction } from '../../contract/interaction.ts';
import {
  resolveAnswer,
  selectSubmitMode,
  type InteractionAnswer,
  type SubmitMode,
} from '../../contract/submit-mode.ts';
import type { ConnectionRow } from '../../store/queries/connection-lookups.ts';
import { IdParams, errorResponses } from '../response-schemas.ts';
import { callerOf } from '../caller.ts';
import type { ApiServer } from '../context.ts';
import type { ApiParts } from '../parts.ts';

const Answer = z.strictObject({ accepted: z.literal(true) });

/** `POST /auth/connections/{id}/submit`: submits a person's answer to the pending interaction; 202 once the workflow accepts it. */
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
      response: { 202: Answer, ...errorResponses(410, 422) },
    },
    handler: async (request, reply) => {
      const caller = callerOf(request);
      const row = await parts.views.find(caller, request.params.id);
      const { flow } = row.document;
      if (caller.kind === 'hosted' && flow && expireOverdue(flow, parts.clock()).flow_status !== 'IN_PROGRESS') {
        throw new HoldfastError('gone', 'This login has ended; start a new one');
      }
      await submitAnswer(parts, row, request.body);
      return reply.code(202).send({ accepted: true });
    },
  });
}

/** Names under which answers without values are digested. No field has them, since field ids contain no space. */
const CHOICE_MARK = ' choice';
const WRONG_FORM_MARK = ' wrong form';

type Parts = Pick<ApiParts, 'store' | 'connections' | 'views' | 'clock'>;
type Row = Pick<ConnectionRow, 'id' | 'document'>;

/**
 * Delivers a person's answer to the workflow. It is validated against the stored row before anything is sealed, and again by the
 * workflow, whose state may be newer. Throws `not_awaiting_input`, `stale_interaction`, `unknown_field`, `unknown_choice`,
 * `missing_field` or `invalid_input`. A repeated answer is accepted but typed once.
 */
export async function submitAnswer(parts: Parts, row: Row, body: ConnectionSubmit): Promise<void> {
  const pending = pendingInteraction(row.document.flow, parts.clock());
  const mode = selectSubmitMode(body, pending?.interaction_id ?? null);
  if (pending !== null && (body.interaction_id ?? pending.interaction_id) === pending.interaction_id) {
    await deliver(parts, row, resolveAnswer(mode, pending));
    return;
  }
  // A client that lost the response to its first attempt retries, and the flow may have advanced since.
  const past = await pastInteraction(parts, row, body.interaction_id);
  if (past !== null && (await wasSubmitted(parts, row.id, mode, past))) return;
  throw pending === null
    ? new HoldfastError(
        'not_awaiting_input',
        'Nothing awaits input on this connection; read flow_step and submit while it is AWAITING_INPUT',
      )
    : new HoldfastError(
        'stale_interaction',
        'interaction_id: is not the pending interaction; read the connection and answer its current one',
      );
}

/** Seals the values, then sends their submission id to the workflow. Rejected values are discarded at once. */
async function deliver(parts: Parts, row: Row, answer: InteractionAnswer): Promise<void> {
  const fieldIds = Object.keys(answer.values);
  const expiresAt = row.document.flow === null ? parts.clock() : new Date(row.document.flow.flow_expires_at);
  const sealed = await parts.store.submissions.seal({ ...sealable(row.id, answer), expiresAt });
  try {
    const accepted = await parts.connections.submit(row.id, {
      submissionId: fieldIds.length === 0 ? null : sealed.submissionId,
      interactionId: answer.interactionId,
      fieldIds,
      selectedChoiceId: answer.choiceId,
      ...(answer.wrongForm === undefined ? {} : { wrongForm: true }),
    });
    if (fieldIds.length === 0) await parts.store.submissions.destroy(sealed.submissionId);
    await parts.views.waitUntilRecorded(accepted);
  } catch (error) {
    // Not a rejection: the workflow may still accept the submission, so the values stay until they expire.
    if (!isRejection(error)) throw error;
    if (!sealed.duplicate) await parts.store.submissions.discard(sealed.submissionId);
    // The workflow recognizes repeated submissions with values; a repeated choice just finds the interaction over.
    else if (fieldIds.length === 0) return;
    throw error;
  }
}

function sealable(connectionId: string, { interactionId, values, choiceId, wrongForm }: InteractionAnswer) {
  const isChoice = Object.keys(values).length === 0 && choiceId !== null;
  const digested = wrongForm === true ? { [WRONG_FORM_MARK]: 'true' } : isChoice ? { [CHOICE_MARK]: choiceId } : values;
  return { connectionId, interactionId, values: digested };
}

async function wasSubmitted(parts: Parts, connectionId: string, mode: SubmitMode, past: Interaction) {
  try {
    return await parts.store.submissions.isKnown(sealable(connectionId, resolveAnswer(mode, past)));
  } catch (error) {
    if (error instanceof HoldfastError && error.status === 400) return false;
    throw error;
  }
}

/** The newest interaction recorded in the current flow, or the one with the given id. */
async function pastInteraction(parts: Parts, row: Row, id: string | undefined): Promise<Interaction | null> {
  const flowId = row.document.flow?.flow_id;
  if (flowId === undefined) return null;
  const states = await parts.store.connections.statesSince(row.id, 0);
  const interactions = states.flatMap(({ document: { flow } }) =>
    flow?.flow_id === flowId && flow.interaction !== null ? [flow.interaction] : [],
  );
  return interactions.findLast(({ interaction_id: known }) => id === undefined || known === id) ?? null;
}

function pendingInteraction(flow: FlowState | null, now: Date): Interaction | null {
  if (flow === null) return null;
  const current = expireOverdue(flow, now);
  return current.flow_status === 'IN_PROGRESS' ? current.interaction : null;
}

function isRejection(error: unknown): boolean {
  return error instanceof HoldfastError && error.status >= 400 && error.status < 500 && error.code !== 'rate_limited';
}
