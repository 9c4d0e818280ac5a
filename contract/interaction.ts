import { z } from 'zod';
import { DiscoveredFieldType, MfaType, ReadFieldType } from './reading.ts';

/** ManagedAuthField: one value that a person or a credential must give. */
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

/** ManagedAuthChoice: one option of which one is picked. */
export const ManagedAuthChoice = z.strictObject({
  id: z.string(),
  type: z.enum([
    'mfa_method',
    'sso_provider',
    'sign_in_method',
    'auth_method',
    'identifier_method',
    'account',
    'other',
  ]),
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
export type SsoButton = z.infer<typeof SsoButton>;

/** SignInOption: the older form of every other choice; `id` equals the choice's. */
export const SignInOption = z.strictObject({
  id: z.string(),
  label: z.string(),
  description: z.string().nullable().optional(),
});
export type SignInOption = z.infer<typeof SignInOption>;

/** What waits at a pause, in the canonical and in the older form. */
export const Interaction = z.object({
  interaction_id: z.string(),
  fields: z.array(ManagedAuthField),
  choices: z.array(ManagedAuthChoice),
  discovered_fields: z.array(DiscoveredField),
  mfa_options: z.array(MfaOption),
  pending_sso_buttons: z.array(SsoButton),
  sign_in_options: z.array(SignInOption),
  /**
   * After a person said that the form before was not the right one: this is another, or the first again, because there is no
   * further one. For the hosted page; no answer of the API has it.
   */
  form_notice: z.enum(['another_form', 'first_form_again']).optional(),
  /** What is asked for is done on the page itself (a puzzle): its person sees the page and acts on it. For the hosted page. */
  acts_on_page: z.literal(true).optional(),
  /** A sign-in link that comes by mail answers it as well. No answer of the API has it. */
  takes_link: z.literal(true).optional(),
});
export type Interaction = z.infer<typeof Interaction>;
