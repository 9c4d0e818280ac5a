import { z } from 'zod';

/** What a field asks for (ManagedAuthField.type). */
export const ReadFieldType = z.enum(['identifier', 'password', 'code', 'totp_code', 'totp_secret', 'text']);

/** Input type in the older `discovered_fields` (DiscoveredField.type). */
export const DiscoveredFieldType = z.enum(['text', 'email', 'password', 'tel', 'number', 'url', 'code', 'totp']);

/** MFA methods (wire.md). */
export const MfaType = z.enum(['sms', 'call', 'email', 'totp', 'push', 'password', 'switch']);

/** How a one-time code reaches the person; `unknown` if the page does not say. */
export const CodeChannel = z.enum(['sms', 'email', 'call', 'totp', 'unknown']);
export type CodeChannel = z.infer<typeof CodeChannel>;

/** A field found by the reader. Holds no typed value. */
export const ReadField = z.object({
  type: ReadFieldType,
  discovered_type: DiscoveredFieldType,
  /** `name` or `id` of the element, or a slug of the label; unique in the reading. */
  name: z.string(),
  label: z.string(),
  selector: z.string(),
  placeholder: z.string().nullable(),
  hint: z.string().nullable(),
  required: z.boolean(),
  /** CSS path of the frames around it, outermost first; empty for the page itself. */
  frame: z.array(z.string()),
  /** Number of single-character inputs if a code or PIN is spread over several; else 1. */
  boxes: z.number().int().min(1),
  /** Of `code` and `totp_code` fields; absent reads as `unknown`. */
  channel: CodeChannel.optional(),
  /** True if it asks for the characters of a captcha, which differ each time: its value is not stored. */
  captcha: z.literal(true).optional(),
  /** Selector of the captcha's picture, in the same frame. Absent if none was found. */
  picture: z.string().optional(),
  /** True if it still holds a value that was typed before: it is left alone. */
  held: z.boolean().optional(),
});
export type ReadField = z.infer<typeof ReadField>;

/** What a choice selects (ManagedAuthChoice.type). */
export const ChoiceType = z.enum([
  'mfa_method',
  'sso_provider',
  'sign_in_method',
  'auth_method',
  'identifier_method',
  'account',
  'other',
]);

/** A choice found by the reader. */
export const ReadChoice = z.object({
  type: ChoiceType,
  label: z.string(),
  selector: z.string(),
  /** XPath of the element: the older `sso_button_selector`. */
  xpath: z.string(),
  provider: z.string().optional(),
  mfa_type: MfaType.optional(),
  /** What an `auth_method` or `sign_in_method` asks for, if the page says so; `new_passkey` offers to create one. */
  uses: z.enum(['password', 'passkey', 'new_passkey', 'new_authenticator']).optional(),
  masked_destination: z.string().nullable(),
  description: z.string().nullable(),
  frame: z.array(z.string()),
  /** True for a radio button: it only selects the choice, the reading's `submit` sends it. */
  needs_submit: z.boolean().optional(),
  /** True for a button that only leads on (`Stay signed in`, `Not now`): an unattended flow may press it. */
  agrees_to_nothing: z.boolean().optional(),
  /** Checkboxes to tick before pressing it, to accept terms; `description` has their text. */
  ticks: z.array(z.object({ selector: z.string(), frame: z.array(z.string()) })).optional(),
});
export type ReadChoice = z.infer<typeof ReadChoice>;

/**
 * What a page is:
 * - `form`: asks for fields (and may offer choices)
 * - `choice`: offers choices only
 * - `logged_in`: shows signs of a signed-in user (a sign-out control, an account page)
 * - `external_action`: asks for an action elsewhere (a mailed link, a push, a QR code)
 * - `passkey`: accepts only a passkey
 * - `captcha`: shows a challenge in front of the site
 * - `password_change`: requires a new password first
 * - `http_login`: uses HTTP authentication
 * - `blocked`: rejects the browser (bot wall, access denied)
 * - `unavailable`: HTTP 5xx, an error page of the network or the browser, an empty page
 * - `other`: none of these (for example a home page with a sign-in link)
 */
export const PageKind = z.enum([
  'form',
  'choice',
  'logged_in',
  'external_action',
  'passkey',
  'captcha',
  'password_change',
  'http_login',
  'blocked',
  'unavailable',
  'other',
]);
export type PageKind = z.infer<typeof PageKind>;

/** A person's correction of which form is the login, by form key (`PageReading.forms`). */
export const FormChoice = z.object({ taken: z.string().nullable(), passedOver: z.array(z.string()) });
export type FormChoice = z.infer<typeof FormChoice>;

/** One reading of one page. Texts are the site's, cut to 500 characters, without markup. */
export const PageReading = z.object({
  url: z.string(),
  kind: PageKind,
  title: z.string(),
  fields: z.array(ReadField),
  submit: z.object({ selector: z.string(), frame: z.array(z.string()) }).nullable(),
  choices: z.array(ReadChoice),
  /** The site's visible error text. */
  website_error: z.string().nullable(),
  /** The form's error is only about a captcha: the site has not checked what was sent. */
  wants_proof: z.literal(true).optional(),
  /** A dialog over the page says that the session has ended; the page below it is outdated. Only with `other`. */
  session_over: z.literal(true).optional(),
  /** The site accepts no attempts for now: another one makes it worse. */
  lock_out: z.enum(['rate_limited', 'account_locked']).optional(),
  /** Instructions if kind is `external_action`. */
  external_action_message: z.string().nullable(),
  /** An `external_action` that a mailed link answers. */
  mailed_link: z.literal(true).optional(),
  /** The form was chosen by the operator's model. */
  by_model: z.literal(true).optional(),
  /** The page shows the secret of a new authenticator and asks for its first code. The secret is not in the reading. */
  enrolment: z.literal(true).optional(),
  /** A link to the login page, if the page has one and no form. */
  sign_in_link: z.object({ selector: z.string(), href: z.string().nullable() }).nullable(),
  /** Keys of the page's forms, likeliest first: `fields` and `choices` belong to the first. Stable across visits. */
  forms: z.array(z.string()).optional(),
  /** Why it was read this way, in a few words without values. Absent unless requested, and in older histories. */
  evidence: z.string().optional(),
});
export type PageReading = z.infer<typeof PageReading>;
