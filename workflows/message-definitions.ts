import { defineQuery, defineSignal, defineUpdate } from '@temporalio/workflow';
import type { FlowEnd, FlowPatch } from './flow/context.ts';
import {
  QUERIES,
  SIGNALS,
  UPDATES,
  type Accepted,
  type Addressed,
  type ConfigureRequest,
  type ConnectionView,
  type CreateResult,
  type LoginRequest,
  type SubmitInput,
} from './messages.ts';

/** Definitions of the messages, for handlers and clients. */
export const createUpdate = defineUpdate<CreateResult, [Addressed]>(UPDATES.create);
export const loginUpdate = defineUpdate<Accepted, [LoginRequest]>(UPDATES.login);
export const submitUpdate = defineUpdate<Accepted, [SubmitInput]>(UPDATES.submitInput);
export const configureUpdate = defineUpdate<Accepted, [ConfigureRequest]>(UPDATES.configure);
export const checkUpdate = defineUpdate<Accepted, [Addressed]>(UPDATES.check);
export const removeUpdate = defineUpdate<null, [Addressed]>(UPDATES.remove);
export const submitSignal = defineSignal<[SubmitInput]>(SIGNALS.submitInput);
export const flowProgressSignal = defineSignal<[FlowProgress]>(SIGNALS.flowProgress);
export const flowWithdrawsSignal = defineSignal<[FlowInteraction]>(SIGNALS.flowWithdraws);
export const flowEndedSignal = defineSignal<[FlowEnded]>(SIGNALS.flowEnded);
export const answerSignal = defineSignal<[AnswerToFlow]>(SIGNALS.answer);
export const webhookWokenSignal = defineSignal(SIGNALS.webhookWoken);
export const exportWokenSignal = defineSignal(SIGNALS.exportWoken);
export const documentQuery = defineQuery<ConnectionView>(QUERIES.document);

/** A flow reports its steps to the entity. */
export interface FlowProgress {
  flowId: string;
  patch: FlowPatch;
}

/** An interaction of a flow that no longer accepts an answer. */
export interface FlowInteraction {
  flowId: string;
  interactionId: string;
}

/** A flow reports its end to the entity. */
export interface FlowEnded {
  flowId: string;
  end: FlowEnd;
}

/** The entity sends a waiting flow the accepted answer, or null if the interaction was withdrawn unanswered. */
export interface AnswerToFlow extends FlowInteraction {
  input: SubmitInput | null;
}
