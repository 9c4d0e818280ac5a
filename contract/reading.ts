import { z } from 'zod';

/** What a field of a page asks for, in the interface's words (ManagedAuthField.type). */
export const ReadFieldType = z.enum(['identifier', 'password', 'code', 'totp_code', 'totp_secret', 'text']);

/** Input type as the older `discovered_fields` names it (DiscoveredField.type). */
export const DiscoveredFieldType = z.enum(['text', 'email', 'password', 'tel', 'number', 'url', 'code', 'totp']);

/** MFA methods (wire.md). */
export const MfaType = z.enum(['sms', 'call', 'email', 'totp', 'push', 'password', 'switch']);

/** How a one-time code reaches the person; `unknown` when the page does not say. */
export const CodeChannel = z.enum(['sms', 'email', 'call', 'totp', 'unknown']);
export type CodeChannel = z.infer<typeof CodeChannel>;

/** A field that the reader found. Nothing in it is a value that somebody typed. */
export const ReadField = z.object({
  type: ReadFieldType,
  discovered_type: DiscoveredFieldType,
  /** `name`, else `id` of the element, else a slug of the label; unique in the reading. */
  name: z.string(),
  label: z.string(),
  selector: z.string(),
  placeholder: z.string().nullable(),
  hint: z.string().nullable(),
  required: z.boolean(),
  /** CSS path of the frames that hold it, outermost first; empty for the page itself. */
  frame: z.array(z.string()),
  /** Number of single-character boxes when one code is spread over several inputs; else 1. */
  boxes: z.number().int().min(1),
  /** Of `code` and `totp_code` fields; absent reads as `unknown`. */
  channel: CodeChannel.optional(),
  /** True when it still holds what was typed into it before: it is left alone. */
  held: z.boolean().optional(),
});
export type ReadField = z.infer<typeof ReadField>;

/** A choice that the reader found (ManagedAuthChoice.type). */
export const ReadChoice = z.object({
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
  selector: z.string(),
  /** XPath of the same element: the older `sso_button_selector`. */
  xpath: z.string(),
  provider: z.string().optional(),
  mfa_type: MfaType.optional(),
  /** What an `auth_method` or `sign_in_method` asks for, where the page says so; `new_passkey` offers to create one. */
  uses: z.enum(['password', 'passkey', 'new_passkey', 'new_authenticator']).optional(),
  masked_destination: z.string().nullable(),
  description: z.string().nullable(),
  frame: z.array(z.string()),
  /** True for a radio button: it only marks the choice, the reading's `submit` sends it. */
  needs_submit: z.boolean().optional(),
  /** True for a button that only leads on (`Stay signed in`, `Not now`): a flow may press it with nobody there. */
  agrees_to_nothing: z.boolean().optional(),
  /** Boxes to tick before it is pressed, as the site wants for an agreement; `description` has their words. */
  ticks: z.array(z.object({ selector: z.string(), frame: z.array(z.string()) })).optional(),
});
export type ReadChoice = z.infer<typeof ReadChoice>;

/**
 * What a page is:
 * - `form`: asks for fields (and may offer choices beside them)
 * - `choice`: offers choices only
 * - `logged_in`: shows signs of a signed-in visitor (a sign-out control, an account page)
 * - `external_action`: asks for something outside (a link by mail, a push, a QR code)
 * - `passkey`: only a passkey goes on
 * - `captcha`: a challenge stands in the way
 * - `password_change`: wants a new password to be set before anything else
 * - `http_login`: the browser itself is asked for a name and a password (HTTP authentication)
 * - `blocked`: the site refuses the browser (bot wall, access denied)
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

/**
 * Which form of a page is the login where a person has said that the reader's own choice is wrong: the one that was settled on,
 * and those that are not the right ones. Forms go by their keys (`PageReading.forms`).
 */
export const FormChoice = z.object({ taken: z.string().nullable(), passedOver: z.array(z.string()) });
export type FormChoice = z.infer<typeof FormChoice>;

/** One reading of one page. Texts are the site's words, cut to 500 characters, never markup. */
export const PageReading = z.object({
  url: z.string(),
  kind: PageKind,
  title: z.string(),
  fields: z.array(ReadField),
  submit: z.object({ selector: z.string(), frame: z.array(z.string()) }).nullable(),
  choices: z.array(ReadChoice),
  /** The site's error text that is visible now. */
  website_error: z.string().nullable(),
  /** The error of a form is about a captcha alone: the site has not looked at what was sent. */
  wants_proof: z.literal(true).optional(),
  /** A window over the page says that the session is over; what lies under it is of before. Of `other` alone. */
  session_over: z.literal(true).optional(),
  /** The site lets nobody in for now: another try makes it worse. Absent where it says nothing of the kind. */
  lock_out: z.enum(['rate_limited', 'account_locked']).optional(),
  /** Instructions when kind is `external_action`. */
  external_action_message: z.string().nullable(),
  /** An `external_action` that a mailed link answers. */
  mailed_link: z.literal(true).optional(),
  /** The form was chosen by the model that the operator has named. */
  by_model: z.literal(true).optional(),
  /** The page shows the secret of a new authenticator and asks for its first code. The secret is nowhere in here. */
  enrolment: z.literal(true).optional(),
  /** A link that leads to the login page, when the page has one and no form. */
  sign_in_link: z.object({ selector: z.string(), href: z.string().nullable() }).nullable(),
  /**
   * Keys of what the page may ask for, the likeliest first: `fields` and `choices` are those of the first. The same on every
   * visit, and never a value. Absent where nothing is asked, and in histories that are older than it.
   */
  forms: z.array(z.string()).optional(),
  /** Why it was read so, in a few words without a value. Absent where nobody asked, and in histories that are older than it. */
  evidence: z.string().optional(),
});
export type PageReading = z.infer<typeof PageReading>;
