import { z } from 'zod';
import { ReadChoice, ReadField } from './reading.ts';

/** A credential as it was at some time: what was learned with it holds until its version grows. */
export const CredentialVersion = z.object({ credentialId: z.string(), version: z.int() });
export type CredentialVersion = z.infer<typeof CredentialVersion>;

/** A field that a login answered, by whomever: what it is recognized by, and the name of its value. */
export const RequiredField = ReadField.pick({
  type: true,
  discovered_type: true,
  name: true,
  label: true,
  hint: true,
  channel: true,
}).extend({
  /** The name of its value in a credential. Absent in rows that are older than it. */
  ref: z.string().optional(),
});
export type RequiredField = z.infer<typeof RequiredField>;

/** A choice that a login took: what it is known by when the site offers it again. */
export const TakenChoice = ReadChoice.pick({
  type: true,
  label: true,
  provider: true,
  masked_destination: true,
  agrees_to_nothing: true,
}).extend({
  /** Of a consent: who asked for what. Absent of everything else. */
  description: z.string().nullable().optional(),
});
export type TakenChoice = z.infer<typeof TakenChoice>;

/** Who gave an answer: what is stored, with nobody asked, or a person. */
export const AnsweredBy = z.enum(['credential', 'person']);
export type AnsweredBy = z.infer<typeof AnsweredBy>;

/** One page of a login and how it was answered. No value is in here. */
export const PlanStep = z.object({
  /** Origin and path shape of the page. Null in plans that were made of older records. */
  page: z.string().nullable(),
  /** Fields that were filled in together. */
  fields: z.array(RequiredField.extend({ answered_by: AnsweredBy })),
  choice: TakenChoice.extend({ answered_by: AnsweredBy }).nullable(),
  /** True when the page waited for something elsewhere (a push, a mailed link), and that is what led on. */
  external: z.boolean(),
  /** True of an `external` step that a mailed link answers. */
  mailed_link: z.literal(true).optional(),
  /** True where a model chose the form of the page. */
  by_model: z.literal(true).optional(),
});
export type PlanStep = z.infer<typeof PlanStep>;

/** How a good login went, page by page: a REAUTH goes the same way. */
export const LoginPlan = z.object({
  /** The flow that recorded it. */
  id: z.string(),
  /** The credential that it was walked with, or that its values were saved to. */
  credential_id: z.string().nullable(),
  steps: z.array(PlanStep),
  /** How many REAUTHs in a row it has failed, and with which credential the last of them. */
  failures: z.object({ count: z.int(), credential: CredentialVersion.nullable() }),
});
export type LoginPlan = z.infer<typeof LoginPlan>;

/** What a login needed, as rows and histories have it that are older than plans. */
export const LoginRequirements = z.object({
  fields: z.array(RequiredField.extend({ step: z.int().optional() })),
  choices: z.array(TakenChoice).optional(),
  externalAction: z.boolean(),
});
export type LoginRequirements = z.infer<typeof LoginRequirements>;
