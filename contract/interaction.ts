import { z } from 'zod';
import { ChoiceType, DiscoveredFieldType, MfaType, ReadFieldType } from './reading.ts';

/** ManagedAuthField: one value to be given by a person or a credential. */
export const ManagedAuthField = z.strictObject({
  id: z.string(),
  ref: z.string(),
  type: ReadFieldType,
  reason: z.enum(['missing', 'rejected']),
  label: z.string().optional(),
  hint: z.string().optional(),
  observed_selector: z.string().nullable().optional(),
  required: z.boolean().optional(),
});
export type ManagedAuthField = z.infer<typeof ManagedAuthField>;

/** ManagedAuthChoice: one of several options. */
export const ManagedAuthChoice = z.strictObject({
  id: z.string(),
  type: ChoiceType,
  label: z.string(),
  context: z.string().nullable().optional(),
  description: z.string().nullable().optional(),
  display_text: z.string().nullable().optional(),
  masked_destination: z.string().nullable().optional(),
  observed_selector: z.string().nullable().optional(),
  mfa_type: MfaType.nullable().optional(),
});
export type ManagedAuthChoice = z.infer<typeof ManagedAuthChoice>;

/** DiscoveredField: the older form of a field. */
export const DiscoveredField = z.strictObject({
  name: z.string(),
  type: DiscoveredFieldType,
  label: z.string(),
  selector: z.string(),
  placeholder: z.string().optional(),
  hint: z.string().optional(),
  required: z.boolean().optional(),
  linked_mfa_type: MfaType.nullable().optional(),
});
export type DiscoveredField = z.infer<typeof DiscoveredField>;

/** MFAOption: the older form of an `mfa_method` choice. */
export const MfaOption = z.strictObject({
  type: MfaType,
  label: z.string(),
  target: z.string().nullable().optional(),
  description: z.string().nullable().optional(),
});
export type MfaOption = z.infer<typeof MfaOption>;

/** SSOButton: the older form of an `sso_provider` choice; `selector` is an XPath. */
export const SsoButton = z.strictObject({ selector: z.string(), provider: z.string(), label: z.string() });

/** SignInOption: the older form of every other choice; `id` equals the choice's. */
export const SignInOption = z.strictObject({
  id: z.string(),
  label: z.string(),
  description: z.string().nullable().optional(),
});
export type SignInOption = z.infer<typeof SignInOption>;

/** What is asked during a pause, in the canonical and the older form. */
export const Interaction = z.object({
  interaction_id: z.string(),
  fields: z.array(ManagedAuthField),
  choices: z.array(ManagedAuthChoice),
  discovered_fields: z.array(DiscoveredField),
  mfa_options: z.array(MfaOption),
  pending_sso_buttons: z.array(SsoButton),
  sign_in_options: z.array(SignInOption),
  /** Set after a form was called wrong: this is another one, or the first again. For the hosted page; never in API responses. */
  form_notice: z.enum(['another_form', 'first_form_again']).optional(),
  /** A person must act on the page itself (a puzzle), which the hosted page shows. */
  acts_on_page: z.literal(true).optional(),
  /** Pictures whose characters are asked for, as data URLs by field id. For the hosted page; never in API responses. */
  pictures: z.record(z.string(), z.string()).optional(),
  /** A mailed sign-in link answers it too. Never in API responses. */
  takes_link: z.literal(true).optional(),
});
export type Interaction = z.infer<typeof Interaction>;
