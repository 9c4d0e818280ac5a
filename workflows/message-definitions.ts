import { defineQuery, defineSignal, defineUpdate } from '@temporalio/workflow';
import type { FlowPatch } from './flow/context.ts';
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
export const checkUpdate = defineUpdate<{ checkId: string }, [Addressed]>(UPDATES.check);
export const removeUpdate = defineUpdate<null, [Addressed]>(UPDATES.remove);
export const submitSignal = defineSignal<[SubmitInput]>(SIGNALS.submitInput);
export const flowProgressSignal = defineSignal<[FlowProgress]>(SIGNALS.flowProgress);
export const documentQuery = defineQuery<ConnectionView>(QUERIES.document);

/** What a REAUTH child tells the entity of its steps. */
export interface FlowProgress {
  flowId: string;
  patch: FlowPatch;
}
