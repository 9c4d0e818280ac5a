import { z } from 'zod';
import {
  AuthStatus,
  CanReauthReason,
  CredentialReference,
  FlowErrorCode,
  FlowStatus,
  FlowStep,
  FlowType,
  ManagedAuthBrowser,
  type ManagedAuth,
  type TimelineEvent,
} from './connections.ts';
import { Interaction } from './interaction.ts';
import { ReadChoice, ReadField } from './reading.ts';
import { TelemetryRequest } from './telemetry.ts';

/** Settings of a connection with every default applied. No secret is in here. */
export const ConnectionSettings = z.object({
  domain: z.string(),
  profile_name: z.string(),
  allowed_domains: z.array(z.string()).optional(),
  auto_reauth: z.boolean(),
  browser: ManagedAuthBrowser.optional(),
  browser_telemetry: TelemetryRequest.nullable().optional(),
  proxy_id: z.string().optional(),
  credential: CredentialReference.optional(),
  login_url: z.string().optional(),
  health_check_interval: z.int(),
  health_checks: z.boolean(),
  record_session: z.boolean(),
  save_credentials: z.boolean(),
});
export type ConnectionSettings = z.infer<typeof ConnectionSettings>;

/** The most recent flow. `interaction` is set only at a pause. Times are ISO strings. */
export const FlowState = z.object({
  flow_id: z.string(),
  flow_type: FlowType,
  flow_status: FlowStatus,
  flow_step: FlowStep,
  flow_expires_at: z.string(),
  started_at: z.string(),
  browser_session_id: z.string().nullable(),
  /** True once telemetry of one of its browser sessions was captured. */
  telemetry_captured: z.boolean().optional(),
  /** Recording of the session in `browser_session_id`, when there is one. */
  replay_id: z.string().nullable().optional(),
  /** Why there is none though one was asked for. */
  replay_error: z.string().nullable().optional(),
  live_view_url: z.string().nullable(),
  interaction: Interaction.nullable(),
  external_action_message: z.string().nullable(),
  sso_provider: z.string().nullable(),
  error_code: FlowErrorCode.nullable(),
  error_message: z.string().nullable(),
  website_error: z.string().nullable(),
});
export type FlowState = z.infer<typeof FlowState>;

/** A credential as it was at some time: what was learned with it holds until its version grows. */
export const CredentialVersion = z.object({ credentialId: z.string(), version: z.int() });
export type CredentialVersion = z.infer<typeof CredentialVersion>;

/** A field that a login answered, by whomever. */
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
  /** Which answer of the login it belonged to, from 1: fields of one page share it. */
  step: z.int().optional(),
});
export type RequiredField = z.infer<typeof RequiredField>;

/** A choice that a login took: what it is known by when the site offers it again. */
export const TakenChoice = ReadChoice.pick({ type: true, label: true, provider: true, masked_destination: true });
export type TakenChoice = z.infer<typeof TakenChoice>;

/** What the last good login needed, by kind; recorded so that the reauth gate need not guess. */
export const LoginRequirements = z.object({
  fields: z.array(RequiredField),
  /** Choices that were taken: a REAUTH takes them again. Absent in rows that are older than it. */
  choices: z.array(TakenChoice).optional(),
  /** True when a person had to act elsewhere (mail link, push). */
  externalAction: z.boolean(),
});
export type LoginRequirements = z.infer<typeof LoginRequirements>;

/** What a REAUTH met and could not answer. It stands until a person logs in or the credential changes. */
export const ReauthObstacle = z.object({ reason: CanReauthReason, credential: CredentialVersion.nullable() });
export type ReauthObstacle = z.infer<typeof ReauthObstacle>;

/** How often REAUTH has failed in a row for reasons that may pass, and before when (ISO) it is not tried again. */
export const ReauthBackOff = z.object({
  failures: z.int(),
  nextAt: z.string(),
  credential: CredentialVersion.nullable(),
});
export type ReauthBackOff = z.infer<typeof ReauthBackOff>;

/** What logins have taught about logging in with nobody there. Callers see only what the gate makes of it. */
export const ReauthMemory = z.object({
  /** The password that the site refused: it is not typed again. */
  refused: CredentialVersion.nullable(),
  requirements: LoginRequirements.nullable(),
  obstacle: ReauthObstacle.nullable(),
  backOff: ReauthBackOff.nullable(),
  /** The credential whose authenticator codes the site refused. Absent in rows that are older than it. */
  refusedCodes: CredentialVersion.nullable().optional(),
  /** Every field that good logins answered: each keeps its `ref`. Absent in rows that are older than it. */
  fields: z.array(RequiredField).optional(),
});
export type ReauthMemory = z.infer<typeof ReauthMemory>;

/**
 * Everything that is known of a connection: held by its workflow, recorded in the store on every change, and what every
 * read is answered from. `revision` grows by one with each change.
 */
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
  /** Absent before anything was learned. In the row, so that it outlives the workflow. */
  reauth: ReauthMemory.optional(),
});
export type ConnectionDocument = z.infer<typeof ConnectionDocument>;

/** What the store records in one step: the document as it is now and the timeline events that changed with it. */
export interface ConnectionRecord {
  document: ConnectionDocument;
  timeline: TimelineEvent[];
}

/**
 * The public shape of a document. Flow fields are null before the first flow, and fields of a pause are null unless the
 * flow pauses. A flow past its expiry reads as EXPIRED even before its workflow wakes up to say so.
 * @param hostedUrl mints the hosted page's URL while a flow is in progress; null hides it.
 */
export function presentConnection(
  document: ConnectionDocument,
  now: Date,
  hostedUrl: ((flowId: string) => string) | null,
): ManagedAuth {
  const { settings } = document;
  const flow = document.flow === null ? null : expireOverdue(document.flow, now);
  const running = flow?.flow_status === 'IN_PROGRESS';
  const interaction = running ? flow.interaction : null;
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
    ...(settings.credential === undefined ? {} : { credential: settings.credential }),
    ...(settings.login_url === undefined ? {} : { login_url: settings.login_url }),
    ...(document.post_login_url === null ? {} : { post_login_url: document.post_login_url }),
    can_reauth: document.can_reauth,
    can_reauth_reason: document.can_reauth_reason,
    ...(document.last_auth_check_at === null
      ? {}
      : { last_auth_check_at: document.last_auth_check_at, last_auth_at: document.last_auth_check_at }),
    flow_type: flow?.flow_type ?? null,
    flow_status: flow?.flow_status ?? null,
    flow_step: flow?.flow_step ?? null,
    flow_expires_at: flow?.flow_expires_at ?? null,
    browser_session_id: running ? flow.browser_session_id : null,
    hosted_url: running && hostedUrl !== null ? hostedUrl(flow.flow_id) : null,
    live_view_url: running ? flow.live_view_url : null,
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

/** The flow as a reader must see it at `now`: past `flow_expires_at` an unfinished flow is EXPIRED. */
export function expireOverdue(flow: FlowState, now: Date): FlowState {
  if (flow.flow_status !== 'IN_PROGRESS' || now.getTime() < Date.parse(flow.flow_expires_at)) return flow;
  return { ...flow, flow_status: 'EXPIRED', interaction: null, external_action_message: null };
}
