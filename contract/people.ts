import { z } from 'zod';

/** Roles of an organization's members, least privileged first: read; work; administer. */
export const ROLES = ['viewer', 'operator', 'owner'] as const;
export const Role = z.enum(ROLES);
export type Role = z.infer<typeof Role>;

/** True if `role` includes `needed`. */
export function isAtLeast(role: Role, needed: Role): boolean {
  return ROLES.indexOf(role) >= ROLES.indexOf(needed);
}

/** Lifetime of a console session from sign-in, and without a request, in milliseconds. */
export const SESSION_LIFETIME_MS = 7 * 24 * 60 * 60_000;
export const SESSION_IDLE_MS = 24 * 60 * 60_000;
/** How long after a sign-in or a confirmation secrets may be shown or replaced, in milliseconds. */
export const CONFIRMATION_LIFETIME_MS = 15 * 60_000;
/** Lifetime of a sign-in link and of an invitation, in milliseconds. */
export const SIGN_IN_LINK_LIFETIME_MS = 60 * 60_000;
export const INVITATION_LIFETIME_MS = 7 * 24 * 60 * 60_000;
/** How long a browser may take to answer a passkey challenge, in milliseconds. */
export const CHALLENGE_LIFETIME_MS = 5 * 60_000;
/** The maximum keeps hashing cheap; the minimum resists guessing. */
const PASSWORD_LENGTH = { min: 12, max: 256 } as const;

/** An email address in its normalized spelling. */
export const Email = z
  .string()
  .trim()
  .toLowerCase()
  .max(254)
  .regex(/^[^\s@\p{Cc}]+@[^\s@\p{Cc}]+$/u, 'must be an e-mail address');

/** The `code` of a sign-in or invitation link. */
const Code = z.string().min(20).max(200);
const Password = z.string().min(1).max(PASSWORD_LENGTH.max);
const TotpCode = z.string().regex(/^\d{6}$/, 'must be the six digits that the authenticator shows');

/** The signed-in person, their organizations and sign-in methods. */
export const Session = z.strictObject({
  user: z.strictObject({ id: z.string(), email: z.string(), name: z.string().nullable() }),
  role: Role,
  organization: z.strictObject({ id: z.string(), name: z.string() }),
  organizations: z
    .array(z.strictObject({ id: z.string(), name: z.string(), role: Role }))
    .describe('All organizations of the person'),
  has_password: z.boolean(),
  passkeys: z.int().describe('Number of passkeys of the person'),
  has_oidc: z.boolean().describe('The person can sign in and confirm through the OpenID provider'),
  confirmed_until: z.iso.datetime().nullable().describe('Until when secrets may be shown or replaced'),
  expires_at: z.iso.datetime(),
});
export type Session = z.infer<typeof Session>;

/** Body of `POST /session/link`. */
export const LinkSignIn = z.strictObject({ code: Code });
/** Body of `POST /session/password`. */
export const PasswordSignIn = z.strictObject({ email: Email, password: Password, code: TotpCode.optional() });

/** Body of `PATCH /session/account`. */
export const Account = z.strictObject({ email: Email.optional(), name: z.string().trim().min(1).max(100).optional() });
/** Body of `POST /session/account/password`. */
export const PasswordSet = z.strictObject({ password: z.string().min(PASSWORD_LENGTH.min).max(PASSWORD_LENGTH.max) });
/** The secret of a new authenticator, shown once: as it is, and as the address for a QR code. */
export const PasswordEnrolment = z.strictObject({ totp_secret: z.string(), totp_url: z.string() });
/** Body of `POST /session/account/password/confirm`. */
export const PasswordConfirm = z.strictObject({ code: TotpCode });

const Base64Url = z
  .string()
  .min(1)
  .max(8192)
  .regex(/^[\w-]+$/, 'must be base64url');
/** The result of `navigator.credentials.get`, in WebAuthn's JSON form. */
export const PasskeyAssertion = z.object({
  id: Base64Url,
  rawId: Base64Url,
  type: z.literal('public-key'),
  response: z.object({
    clientDataJSON: Base64Url,
    authenticatorData: Base64Url,
    signature: Base64Url,
    userHandle: z
      .string()
      .max(200)
      .nullish()
      .transform((value) => value ?? ''),
  }),
});
export type PasskeyAssertion = z.infer<typeof PasskeyAssertion>;
/** A new passkey: its name, and the result of `navigator.credentials.create`. */
export const PasskeyAdd = z.strictObject({
  name: z.string().trim().min(1).max(100),
  response: z.object({
    id: Base64Url,
    rawId: Base64Url,
    type: z.literal('public-key'),
    response: z.object({
      clientDataJSON: Base64Url,
      attestationObject: Base64Url,
      transports: z.array(z.string().max(50)).max(10).default([]),
    }),
  }),
});
/** A passkey of the signed-in person. */
export const Passkey = z.strictObject({
  id: z.string(),
  name: z.string(),
  created_at: z.iso.datetime(),
  last_used_at: z.iso.datetime().nullable(),
});
export type Passkey = z.infer<typeof Passkey>;
/** Body of `POST /session/confirm`: a password and a code, or a passkey's signed challenge. */
export const Confirmation = z.union([
  z.strictObject({ password: Password, code: TotpCode.optional() }),
  z.strictObject({ passkey: PasskeyAssertion }),
]);

/** A person in an organization. */
export const Member = z.strictObject({
  id: z.string(),
  email: z.string(),
  name: z.string().nullable(),
  role: Role,
  created_at: z.iso.datetime(),
});
export type Member = z.infer<typeof Member>;
/** Body of `PATCH /org/members/{id}`. */
export const MemberUpdate = z.strictObject({ role: Role });
/** A pending invitation. */
export const Invitation = z.strictObject({
  id: z.string(),
  email: z.string(),
  role: Role,
  invited_by: z.string().describe('Id of the person or the API key'),
  created_at: z.iso.datetime(),
  expires_at: z.iso.datetime(),
});
export type Invitation = z.infer<typeof Invitation>;
/** Body of `POST /org/invitations`. */
export const InvitationCreate = z.strictObject({ email: Email, role: Role });
/** A new invitation with its link, which is shown once. */
export const CreatedInvitation = Invitation.extend({ url: z.string() });
/** Body of `POST /session/organization`. */
export const OrganizationSwitch = z.strictObject({ id: z.string().min(1).max(200) });

/** How long a person may take at an OpenID provider, in milliseconds. */
export const OIDC_ROUND_TRIP_MS = 10 * 60_000;
/** Body of `POST /session/oidc/confirm`: the console page to return to. */
export const OidcConfirmation = z.strictObject({
  return_to: z
    .string()
    .max(500)
    .regex(/^\/console(?:\/[\w.~%-]+)*(?:\?[\w.~%&=+:-]*)?$/, 'must be a path of the console')
    .default('/console'),
});
/** Where the provider asks the person again. */
export const OidcConfirmationUrl = z.strictObject({ url: z.string() });
/** The available sign-in methods. */
export const SignInMethods = z.strictObject({
  link: z.literal(true),
  password: z.literal(true),
  passkey: z.literal(true),
  oidc: z.boolean().describe('`GET /session/oidc` leads to a provider'),
});
