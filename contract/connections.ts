import { z } from 'zod';
import { DomainName, HttpUrl } from './addresses.ts';
import { CREDENTIAL_PROVIDER_FAULTS } from './credential-provider-faults.ts';
import {
  DiscoveredField,
  ManagedAuthChoice,
  ManagedAuthField,
  MfaOption,
  SignInOption,
  SsoButton,
} from './interaction.ts';
import { HEALTH_CHECK_INTERVAL, MAX_FIELD_VALUE_LENGTH } from './limits.ts';
import { BrowserProxyConfig, ProxyRef } from './proxies.ts';
import { TelemetryRequest } from './telemetry.ts';

/** CredentialReference: exactly one of its three forms. */
export const CredentialReference = z
  .strictObject({
    name: z.string().min(1).max(255).optional(),
    provider: z.string().min(1).max(255).optional(),
    path: z.string().min(1).max(1024).optional(),
    auto: z.boolean().optional(),
  })
  .superRefine((ref, ctx) => {
    const byName = ref.name !== undefined;
    const byProvider = ref.provider !== undefined;
    if (byName === byProvider) ctx.addIssue({ code: 'custom', message: 'give either `name` or `provider`' });
    if (byName && (ref.path !== undefined || ref.auto !== undefined))
      ctx.addIssue({ code: 'custom', message: '`path` and `auto` go with `provider`, not with `name`' });
    if (byProvider && (ref.path !== undefined) === (ref.auto === true))
      ctx.addIssue({ code: 'custom', message: 'with `provider` give either `path` or `auto: true`' });
  });
export type CredentialReference = z.infer<typeof CredentialReference>;

/** ManagedAuthBrowserConfig. */
export const ManagedAuthBrowser = z.strictObject({
  proxy: BrowserProxyConfig.optional(),
  stealth: z.boolean().optional(),
  telemetry: TelemetryRequest.nullable().optional(),
});
export type ManagedAuthBrowser = z.infer<typeof ManagedAuthBrowser>;

/** Where one-time codes arrive automatically (docs/codes.md): a phone number, an email address, or by API. Ours. */
export const CodeSettings = z.strictObject({
  phone_number: z
    .string()
    .overwrite((text) => text.replaceAll(/[ ().-]/g, ''))
    .regex(/^\+[1-9]\d{6,14}$/, 'must be a number with its country, such as +15550109999')
    .optional(),
  email_address: z
    .string()
    .trim()
    .toLowerCase()
    .max(254)
    .regex(z.regexes.email, 'must be an e-mail address')
    .optional(),
  api: z
    .array(z.enum(['sms', 'email', 'call']))
    .max(3)
    .optional(),
});
export type CodeSettings = z.infer<typeof CodeSettings>;

const settings = {
  allowed_domains: z.array(z.string().trim().min(1).max(253)).max(100).optional(),
  auto_reauth: z.boolean().optional(),
  browser: ManagedAuthBrowser.optional(),
  browser_telemetry: TelemetryRequest.nullable().optional(),
  codes: CodeSettings.optional(),
  credential: CredentialReference.optional(),
  health_check_interval: z.int().min(HEALTH_CHECK_INTERVAL.min).max(HEALTH_CHECK_INTERVAL.max).optional(),
  health_checks: z.boolean().optional(),
  proxy: ProxyRef.optional(),
  record_session: z.boolean().optional(),
  save_credentials: z.boolean().optional(),
};

/** Body of `POST /auth/connections`. The plan's minimum interval and private hosts are checked by the API. */
export const ConnectionCreate = z.strictObject({
  domain: DomainName,
  profile_name: z.string().min(1).max(255),
  ...settings,
  login_url: HttpUrl.optional(),
});
export type ConnectionCreate = z.infer<typeof ConnectionCreate>;

/** Body of `PATCH /auth/connections/{id}`. An empty `login_url` and null clear; `allowed_domains` replaces the list. */
export const ConnectionUpdate = z.strictObject({
  ...settings,
  codes: CodeSettings.nullable().optional(),
  credential: CredentialReference.nullable().optional(),
  login_url: z.union([z.literal(''), HttpUrl]).optional(),
});
export type ConnectionUpdate = z.infer<typeof ConnectionUpdate>;

/** Body of `POST /auth/connections/{id}/login`; absent, empty and `null` mean the connection's defaults. */
export const ConnectionLogin = z
  .strictObject({
    browser: ManagedAuthBrowser.optional(),
    browser_telemetry: TelemetryRequest.nullable().optional(),
    proxy: ProxyRef.optional(),
    record_session: z.boolean().optional(),
  })
  .nullish();

/** Body of `POST …/codes`: a code, or a message with a code or a sign-in link, for the step that waits for it. */
export const ConnectionCode = z
  .strictObject({ code: z.string().trim().min(1).max(100).optional(), text: z.string().min(1).max(100_000).optional() })
  .refine(({ code, text }) => (code === undefined) !== (text === undefined), 'give either `code` or `text`');

/** Body of `POST …/submit`: canonical, or one of the older forms (wire.md). */
export const ConnectionSubmit = z.strictObject({
  interaction_id: z.string().min(1).max(200).optional(),
  field_values: z.record(z.string(), z.string().max(MAX_FIELD_VALUE_LENGTH)).optional(),
  selected_choice_id: z.string().min(1).max(200).optional(),
  fields: z.record(z.string(), z.string().max(MAX_FIELD_VALUE_LENGTH)).optional(),
  mfa_option_id: z.string().min(1).max(200).optional(),
  sign_in_option_id: z.string().min(1).max(200).optional(),
  sso_button_selector: z.string().min(1).max(4096).optional(),
  sso_provider: z.string().min(1).max(200).optional(),
  /** Ours: the form is the wrong one and is not answered. The flow moves on to the next form of the site. */
  wrong_form: z.literal(true).optional(),
});
export type ConnectionSubmit = z.infer<typeof ConnectionSubmit>;

export const AuthStatus = z.enum(['AUTHENTICATED', 'NEEDS_AUTH']);
export type AuthStatus = z.infer<typeof AuthStatus>;
export const FlowType = z.enum(['LOGIN', 'REAUTH']);
export type FlowType = z.infer<typeof FlowType>;
export const FlowStatus = z.enum(['IN_PROGRESS', 'SUCCESS', 'FAILED', 'EXPIRED', 'CANCELED']);
export type FlowStatus = z.infer<typeof FlowStatus>;
export const FlowStep = z.enum([
  'DISCOVERING',
  'AWAITING_INPUT',
  'AWAITING_EXTERNAL_ACTION',
  'SUBMITTING',
  'COMPLETED',
]);
export type FlowStep = z.infer<typeof FlowStep>;

/** `error_code` of a failed flow (wire.md). */
export const FlowErrorCode = z.enum([
  'login_form_not_found',
  'domain_not_allowed',
  'stuck_in_loop',
  'max_attempts_reached',
  'website_error',
  'network_error',
  'element_not_found',
  'credentials_invalid',
  'mfa_required',
  'external_action_required',
  'unsupported_auth_method',
  'bot_detected',
  'captcha_blocked',
  'session_expired',
  'awaiting_input_timeout',
  'external_action_timeout',
  'max_steps_exceeded',
  'browser_error',
  'internal_error',
  'totp_required',
  'sms_code_required',
  'email_code_required',
  'account_choice_required',
  'customer_input_required',
  'totp_code_rejected',
  'session_not_persistent',
  'account_mismatch',
  ...CREDENTIAL_PROVIDER_FAULTS,
]);
export type FlowErrorCode = z.infer<typeof FlowErrorCode>;

export const CanReauthReason = z.enum([
  'external_credential',
  'cua_has_credential',
  'has_credential',
  'viable_plans_found',
  'no_requirements_recorded',
  'requirements_satisfiable',
  'no_prior_successful_login',
  'no_credential',
  'no_viable_plans',
  'viable_plans_require_external_action',
  'requires_external_action',
  'requires_totp_without_secret',
  'requires_sms_code',
  'requires_email_code',
  'requires_customer_input',
]);
export type CanReauthReason = z.infer<typeof CanReauthReason>;

/** The auth connection of interface.md, as returned by create, retrieve, update, list and check. */
export const ManagedAuth = z.strictObject({
  id: z.string(),
  profile_name: z.string(),
  domain: z.string(),
  status: AuthStatus,
  save_credentials: z.boolean(),
  record_session: z.boolean(),
  allowed_domains: z.array(z.string()).optional(),
  auto_reauth: z.boolean().optional(),
  health_checks: z.boolean().optional(),
  health_check_interval: z.int().nullable().optional(),
  browser: ManagedAuthBrowser.optional(),
  browser_telemetry: TelemetryRequest.nullable().optional(),
  proxy_id: z.string().optional(),
  codes: CodeSettings.optional(),
  credential: CredentialReference.optional(),
  login_url: z.string().optional(),
  post_login_url: z.string().optional(),
  can_reauth: z.boolean().optional(),
  can_reauth_reason: CanReauthReason.optional(),
  last_auth_check_at: z.string().optional(),
  last_auth_at: z.string().optional(),
  /** Distinguishes this login from earlier and later ones. Ours. */
  flow_id: z.string().nullable().optional(),
  flow_type: FlowType.nullable().optional(),
  flow_status: FlowStatus.nullable().optional(),
  flow_step: FlowStep.nullable().optional(),
  flow_expires_at: z.string().nullable().optional(),
  browser_session_id: z.string().nullable().optional(),
  hosted_url: z.string().nullable().optional(),
  live_view_url: z.string().nullable().optional(),
  interaction_id: z.string().nullable().optional(),
  fields: z.array(ManagedAuthField).nullable().optional(),
  choices: z.array(ManagedAuthChoice).nullable().optional(),
  discovered_fields: z.array(DiscoveredField).nullable().optional(),
  mfa_options: z.array(MfaOption).nullable().optional(),
  pending_sso_buttons: z.array(SsoButton).nullable().optional(),
  sign_in_options: z.array(SignInOption).nullable().optional(),
  external_action_message: z.string().nullable().optional(),
  sso_provider: z.string().nullable().optional(),
  error_code: z.string().nullable().optional(),
  error_message: z.string().nullable().optional(),
  website_error: z.string().nullable().optional(),
});
export type ManagedAuth = z.infer<typeof ManagedAuth>;

/** Response of `POST …/login`. */
export const LoginResponse = z.strictObject({
  id: z.string(),
  /** The flow that this call started, or had already started. Ours. */
  flow_id: z.string(),
  flow_type: FlowType,
  hosted_url: z.string(),
  flow_expires_at: z.string(),
  handoff_code: z.string().optional(),
  live_view_url: z.string().optional(),
});
export type LoginResponse = z.infer<typeof LoginResponse>;

/** How a health check was made and decided. Ours. */
export const CheckMethod = z.strictObject({
  /** `request`: one HTTP request with the profile's cookies, no browser. */
  method: z.enum(['browser', 'request']),
  /** HTTP status of the response. */
  status: z.int().optional(),
  /** The address that was checked, without its query. */
  address: z.string().optional(),
  /** The kind of page (browser), or `status`, `redirect` or `content` (request). */
  decided_by: z.string(),
});
export type CheckMethod = z.infer<typeof CheckMethod>;

/** A step of a login with its start and end; `ended_at` is null for the current one. Ours. */
export const StepTime = z.strictObject({ step: FlowStep, started_at: z.string(), ended_at: z.string().nullable() });
export type StepTime = z.infer<typeof StepTime>;

/** One event of a connection's timeline (wire.md). */
export const TimelineEvent = z.strictObject({
  id: z.string(),
  type: z.enum(['login', 'reauth', 'health_check']),
  status: z.union([FlowStatus, AuthStatus]),
  timestamp: z.string(),
  updated_at: z.string().optional(),
  /** The flow of a login or re-authentication. Ours. */
  flow_id: z.string().optional(),
  step: z.union([FlowStep, z.enum(['INITIALIZED', 'EXPIRED'])]).optional(),
  previous_status: AuthStatus.optional(),
  error_code: z.string().optional(),
  error_message: z.string().optional(),
  website_error: z.string().optional(),
  browser_session_id: z.string().optional(),
  replay_id: z.string().optional(),
  /** Why there is no replay although one was requested. Ours. */
  replay_error: z.string().optional(),
  telemetry_captured: z.boolean().optional(),
  /** Why the last page was read the way it was, if the flow failed because of it. Ours. */
  evidence: z.string().optional(),
  check: CheckMethod.optional(),
  /** How often a login or re-authentication typed a password, at most. Ours. */
  passwords_typed: z.int().optional(),
  /** The steps of a login or re-authentication, in order. Absent in older events. Ours. */
  steps: z.array(StepTime).optional(),
});
export type TimelineEvent = z.infer<typeof TimelineEvent>;
