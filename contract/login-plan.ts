import { z } from 'zod';
import { ReadChoice, ReadField } from './reading.ts';

/** A version of a credential: what was learned with it holds until the version grows. */
export const CredentialVersion = z.object({ credentialId: z.string(), version: z.int() });
export type CredentialVersion = z.infer<typeof CredentialVersion>;

/** A field that a login answered: what identifies it, and the name of its value. */
export const RequiredField = ReadField.pick({
  type: true,
  discovered_type: true,
  name: true,
  label: true,
  hint: true,
  channel: true,
  captcha: true,
}).extend({
  /** Name of its value in a credential. Absent in older rows. */
  ref: z.string().optional(),
});
export type RequiredField = z.infer<typeof RequiredField>;

/** A choice that a login took: what identifies it when the site offers it again. */
export const TakenChoice = ReadChoice.pick({
  type: true,
  label: true,
  provider: true,
  masked_destination: true,
  agrees_to_nothing: true,
}).extend({
  /** Of a consent: who asked for what. Otherwise absent. */
  description: z.string().nullable().optional(),
});
export type TakenChoice = z.infer<typeof TakenChoice>;

/** Who gave an answer: the stored credential or a person. */
export const AnsweredBy = z.enum(['credential', 'person']);
export type AnsweredBy = z.infer<typeof AnsweredBy>;

/** One page of a login and how it was answered, without values. */
export const PlanStep = z.object({
  /** Origin and path shape of the page. Null in plans converted from older records. */
  page: z.string().nullable(),
  /** Fields that were filled in together. */
  fields: z.array(RequiredField.extend({ answered_by: AnsweredBy })),
  choice: TakenChoice.extend({ answered_by: AnsweredBy }).nullable(),
  /** True if the page waited for an action elsewhere (a push, a mailed link). */
  external: z.boolean(),
  /** True for an `external` step that a mailed link answers. */
  mailed_link: z.literal(true).optional(),
  /** True if a model chose the form of the page. */
  by_model: z.literal(true).optional(),
});
export type PlanStep = z.infer<typeof PlanStep>;

/** How a successful login went, page by page: a REAUTH follows it. */
export const LoginPlan = z.object({
  /** The flow that recorded it. */
  id: z.string(),
  /** The credential it was used with, or its values were saved to. */
  credential_id: z.string().nullable(),
  steps: z.array(PlanStep),
  /** How many consecutive REAUTHs failed with it, and the credential of the last one. */
  failures: z.object({ count: z.int(), credential: CredentialVersion.nullable() }),
});
export type LoginPlan = z.infer<typeof LoginPlan>;

/** What a login needed, in rows and histories older than plans. */
export const LoginRequirements = z.object({
  fields: z.array(RequiredField.extend({ step: z.int().optional() })),
  choices: z.array(TakenChoice).optional(),
  externalAction: z.boolean(),
});
export type LoginRequirements = z.infer<typeof LoginRequirements>;
