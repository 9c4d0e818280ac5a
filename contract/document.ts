import { z } from 'zod';
import {
  AuthStatus,
  CodeSettings,
  CanReauthReason,
  CredentialReference,
  FlowErrorCode,
  FlowStatus,
  FlowStep,
  FlowType,
  ManagedAuthBrowser,
  StepTime,
  type ManagedAuth,
  type TimelineEvent,
} from './connections.ts';
import { Interaction } from './interaction.ts';
import { CredentialVersion, LoginPlan, LoginRequirements, RequiredField } from './login-plan.ts';
import { FormChoice } from './reading.ts';
import { TelemetryRequest } from './telemetry.ts';

/** Settings of a connection with all defaults applied. Holds no secret. */
export const ConnectionSettings = z.object({
  domain: z.string(),
  profile_name: z.string(),
  allowed_domains: z.array(z.string()).optional(),
  auto_reauth: z.boolean(),
  browser: ManagedAuthBrowser.optional(),
  browser_telemetry: TelemetryRequest.nullable().optional(),
  proxy_id: z.string().optional(),
  codes: CodeSettings.optional(),
  credential: CredentialReference.optional(),
  login_url: z.string().optional(),
  health_check_interval: z.int(),
  health_checks: z.boolean(),
  record_session: z.boolean(),
  save_credentials: z.boolean(),
});
export type ConnectionSettings = z.infer<typeof ConnectionSettings>;

/** The most recent flow. `interaction` is set only during a pause. Times are ISO strings. */
export const FlowState = z.object({
  flow_id: z.string(),
  flow_type: FlowType,
  flow_status: FlowStatus,
  flow_step: FlowStep,
  flow_expires_at: z.string(),
  started_at: z.string(),
  /** Its steps in order. Absent in older rows. */
  steps: z.array(StepTime).optional(),
  /** How often a password was typed, at most. Absent in older rows. */
  passwords_typed: z.int().optional(),
  browser_session_id: z.string().nullable(),
  /** True once telemetry of one of its browser sessions was captured. */
  telemetry_captured: z.boolean().optional(),
  /** Recording of the session in `browser_session_id`, if any. */
  replay_id: z.string().nullable().optional(),
  /** Why there is none although one was requested. */
  replay_error: z.string().nullable().optional(),
  live_view_url: z.string().nullable(),
  interaction: Interaction.nullable(),
  external_action_message: z.string().nullable(),
  sso_provider: z.string().nullable(),
  error_code: FlowErrorCode.nullable(),
  error_message: z.string().nullable(),
  website_error: z.string().nullable(),
  /** Why the last page was read the way it was, if the flow failed because of it. */
  evidence: z.string().nullable().optional(),
});
export type FlowState = z.infer<typeof FlowState>;

/** What a REAUTH could not answer. It remains until a person logs in or the credential changes. */
export const ReauthObstacle = z.object({ reason: CanReauthReason, credential: CredentialVersion.nullable() });
export type ReauthObstacle = z.infer<typeof ReauthObstacle>;

/** How often REAUTH failed in a row for possibly temporary reasons, and when (ISO) it may be retried. */
export const ReauthBackOff = z.object({
  failures: z.int(),
  nextAt: z.string(),
  credential: CredentialVersion.nullable(),
});
export type ReauthBackOff = z.infer<typeof ReauthBackOff>;

/** Fingerprints of the account named on a `page` (host and path) after a login; absent if it names none or several. */
export const KnownAccount = z.object({
  page: z.string(),
  email: z.string().optional(),
  name: z.string().optional(),
});
export type KnownAccount = z.infer<typeof KnownAccount>;

/** What identifies the response to a request. Marks are fingerprints of names in its markup; none of its text is kept. */
const ResponseSignature = z.object({
  status: z.int(),
  /** Host and path of the redirect; null if there is none. */
  location: z.string().nullable(),
  marks: z.array(z.string()),
});
export type ResponseSignature = z.infer<typeof ResponseSignature>;

/** A request that shows whether the profile is logged in: as sent by the browser, but without cookies. */
export const RequestCheck = z.object({
  url: z.string(),
  headers: z.record(z.string(), z.string()),
  signedIn: ResponseSignature,
  signedOut: ResponseSignature,
});
export type RequestCheck = z.infer<typeof RequestCheck>;

/** What is known about unattended logins. Callers only see the resulting gate verdict. */
export const ReauthMemory = z.object({
  /** The password that the site refused: it is not typed again. */
  refused: CredentialVersion.nullable(),
  /** How successful logins went, newest first. Absent in older rows. */
  plans: z.array(LoginPlan).optional(),
  /** What the last successful login needed, in rows older than `plans`. */
  requirements: LoginRequirements.nullish(),
  obstacle: ReauthObstacle.nullable(),
  backOff: ReauthBackOff.nullable(),
  /** The credential whose authenticator codes the site refused. Absent in older rows. */
  refusedCodes: CredentialVersion.nullable().optional(),
  /** Every field that successful logins answered, with its `ref`. Absent in older rows. */
  fields: z.array(RequiredField).optional(),
  /** Which form is the login, if a person corrected the reader. */
  forms: FormChoice.nullable().optional(),
});
export type ReauthMemory = z.infer<typeof ReauthMemory>;

/** Everything known about a connection: held by its workflow and recorded on each change as a new `revision`. */
export const ConnectionDocument = z.object({
  schema_version: z.literal(1),
  id: z.string(),
  organization_id: z.string(),
  project_id: z.string(),
  revision: z.int(),
  created_at: z.string(),
  settings: ConnectionSettings,
  status: AuthStatus,
  post_login_url: z.string().nullable(),
  can_reauth: z.boolean(),
  can_reauth_reason: CanReauthReason,
  last_auth_check_at: z.string().nullable(),
  flow: FlowState.nullable(),
  /** Absent until something was learned. Part of the row, so that it outlives the workflow. */
  reauth: ReauthMemory.optional(),
  /** The account of the last login whose page named one. */
  account: KnownAccount.optional(),
  /** The request used by checks; null if none works. Absent from a login until the next check, which looks for one. */
  request_check: RequestCheck.nullable().optional(),
});
export type ConnectionDocument = z.infer<typeof ConnectionDocument>;

/** What the store records in one step: the document and the timeline events that changed with it. */
export interface ConnectionRecord {
  document: ConnectionDocument;
  timeline: TimelineEvent[];
}

/** The public form of a document; a flow past its expiry is EXPIRED. `hostedUrl` makes the hosted page's URL; null hides it. */
export function presentConnection(
  document: ConnectionDocument,
  now: Date,
  hostedUrl: ((flowId: string) => string) | null,
): ManagedAuth {
  const { settings } = document;
  const flow = document.flow === null ? null : expireOverdue(document.flow, now);
  const running = flow?.flow_status === 'IN_PROGRESS';
  const interaction = running ? flow.interaction : null;
  const hosted = running && hostedUrl !== null ? hostedUrl(flow.flow_id) : null;
  return {
    id: document.id,
    profile_name: settings.profile_name,
    domain: settings.domain,
    status: document.status,
    save_credentials: settings.save_credentials,
    record_session: settings.record_session,
    allowed_domains: settings.allowed_domains ?? [],
    auto_reauth: settings.auto_reauth,
    health_checks: settings.health_checks,
    health_check_interval: settings.health_check_interval,
    ...(settings.browser === undefined ? {} : { browser: settings.browser }),
    ...(settings.browser_telemetry === undefined ? {} : { browser_telemetry: settings.browser_telemetry }),
    ...(settings.proxy_id === undefined ? {} : { proxy_id: settings.proxy_id }),
    ...(settings.codes === undefined ? {} : { codes: settings.codes }),
    ...(settings.credential === undefined ? {} : { credential: settings.credential }),
    ...(settings.login_url === undefined ? {} : { login_url: settings.login_url }),
    ...(document.post_login_url === null ? {} : { post_login_url: document.post_login_url }),
    can_reauth: document.can_reauth,
    can_reauth_reason: document.can_reauth_reason,
    ...(document.last_auth_check_at === null
      ? {}
      : { last_auth_check_at: document.last_auth_check_at, last_auth_at: document.last_auth_check_at }),
    flow_id: flow?.flow_id ?? null,
    flow_type: flow?.flow_type ?? null,
    flow_status: flow?.flow_status ?? null,
    flow_step: flow?.flow_step ?? null,
    flow_expires_at: flow?.flow_expires_at ?? null,
    browser_session_id: running ? flow.browser_session_id : null,
    hosted_url: hosted,
    // A page that a person must act on is shown on the hosted page only, while it waits.
    live_view_url: !running ? null : interaction?.acts_on_page === true ? hosted : flow.live_view_url,
    interaction_id: interaction?.interaction_id ?? null,
    fields: interaction?.fields ?? null,
    choices: interaction?.choices ?? null,
    discovered_fields: interaction?.discovered_fields ?? null,
    mfa_options: interaction?.mfa_options ?? null,
    pending_sso_buttons: interaction?.pending_sso_buttons ?? null,
    sign_in_options: interaction?.sign_in_options ?? null,
    external_action_message: running ? flow.external_action_message : null,
    sso_provider: flow?.sso_provider ?? null,
    error_code: flow?.flow_status === 'FAILED' ? flow.error_code : null,
    error_message: flow?.flow_status === 'FAILED' ? flow.error_message : null,
    website_error: flow?.website_error ?? null,
  };
}

/** The flow as seen at `now`: past `flow_expires_at` an unfinished flow is EXPIRED. */
export function expireOverdue(flow: FlowState, now: Date): FlowState {
  if (flow.flow_status !== 'IN_PROGRESS' || now.getTime() < Date.parse(flow.flow_expires_at)) return flow;
  return { ...flow, flow_status: 'EXPIRED', interaction: null, external_action_message: null };
}
