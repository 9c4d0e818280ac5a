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

/** Definitions of the messages, for handlers here and for the client. */
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

/** What a flow tells the entity of its steps. */
export interface FlowProgress {
  flowId: string;
  patch: FlowPatch;
}

/** The interaction of a flow that is no longer to be answered. */
export interface FlowInteraction {
  flowId: string;
  interactionId: string;
}

/** How a flow ended: the last that it tells the entity. */
export interface FlowEnded {
  flowId: string;
  end: FlowEnd;
}

/** What the entity tells a flow that waits: the accepted answer, or null when the interaction was withdrawn unanswered. */
export interface AnswerToFlow extends FlowInteraction {
  input: SubmitInput | null;
}
