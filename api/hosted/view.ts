import type { FlowStatus, FlowStep, ManagedAuth } from '../../contract/connections.ts';
import { CREATE_PASSKEY, KEEP_AUTHENTICATOR } from '../../contract/answer-check.ts';
import type { ManagedAuthChoice, ManagedAuthField } from '../../contract/interaction.ts';
import type { HostedState } from './deps.ts';

/** Input types of the site's own form. */
export type InputKind = 'text' | 'email' | 'password' | 'tel' | 'number' | 'url' | 'code' | 'totp';

/** A field for the page. */
export interface FieldView {
  id: string;
  ref: string;
  type: ManagedAuthField['type'];
  rejected: boolean;
  label: string | null;
  hint: string | null;
  required: boolean;
  input: InputKind;
  /** The picture whose characters it asks for, as a data URL; null for other fields. */
  picture: string | null;
}

/** A choice for the page. `details` distinguish it from the others, such as a masked phone number. */
export interface ChoiceView {
  id: string;
  type: ManagedAuthChoice['type'];
  label: string;
  details: string[];
  mfa: NonNullable<ManagedAuthChoice['mfa_type']> | null;
  /** What Holdfast stores if this is chosen, which the page explains in its own words; null for the site's own choices. */
  keeps: 'passkey' | 'authenticator' | null;
}

/**
 * The flow as the page sees it, with nothing the page does not show: no selectors, browser sessions or connection settings. Any
 * text may be the site's and must only be inserted as text.
 */
export interface FlowView {
  /** Lets the page notice that its cookie was replaced by another flow's. */
  flow: string;
  revision: number;
  domain: string;
  status: FlowStatus;
  step: FlowStep;
  /** Relative, because a phone's clock may be wrong. */
  expires_in_ms: number;
  saves_credentials: boolean;
  interaction_id: string | null;
  fields: FieldView[];
  choices: ChoiceView[];
  /** Shown once, after the previous form was reported as wrong. */
  form_notice: HostedState['formNotice'];
  /** The site's page is shown, and the person acts on it. */
  acts_on_page: boolean;
  external_action_message: string | null;
  website_error: string | null;
  error_code: string | null;
  error_message: string | null;
  /** Only on success; added to `success_url`. */
  profile_name: string | null;
}

/** The page's view of `state`; null if its flow is not `flowId` (a newer login has started). */
export function toFlowView(state: HostedState, flowId: string, now: Date): FlowView | null {
  const { connection } = state;
  const { flow_status: status, flow_step: step } = connection;
  if (state.flowId !== flowId || !status || !step) return null;
  const expires = connection.flow_expires_at ? Date.parse(connection.flow_expires_at) : now.getTime();
  const running = status === 'IN_PROGRESS';
  return {
    flow: flowId,
    revision: state.revision,
    domain: connection.domain,
    status,
    step,
    expires_in_ms: Math.max(0, expires - now.getTime()),
    saves_credentials: connection.save_credentials,
    interaction_id: running ? (connection.interaction_id ?? null) : null,
    fields: running ? (connection.fields ?? []).map((field, index) => fieldView(state, field, index)) : [],
    choices: running ? (connection.choices ?? []).map(choiceView) : [],
    form_notice: running ? state.formNotice : null,
    acts_on_page: running && state.actsOnPage,
    external_action_message: running ? (connection.external_action_message ?? null) : null,
    website_error: connection.website_error ?? null,
    error_code: connection.error_code ?? null,
    error_message: connection.error_message ?? null,
    profile_name: status === 'SUCCESS' ? connection.profile_name : null,
  };
}

function fieldView({ connection, pictures }: HostedState, field: ManagedAuthField, index: number): FieldView {
  return {
    id: field.id,
    ref: field.ref,
    type: field.type,
    rejected: field.reason === 'rejected',
    label: field.label ?? null,
    hint: field.hint ?? null,
    required: field.required ?? true,
    input: inputKind(connection, field, index),
    picture: pictures[field.id] ?? null,
  };
}

/** The site's input type, from the discovered fields: matched by selector, else by position. */
function inputKind(connection: ManagedAuth, field: ManagedAuthField, index: number): InputKind {
  const discovered = connection.discovered_fields ?? [];
  const sameElement = discovered.find((one) => one.selector === field.observed_selector);
  const samePlace = discovered.length === connection.fields?.length ? discovered[index] : undefined;
  return (sameElement ?? samePlace)?.type ?? INPUT_BY_FIELD[field.type];
}

const INPUT_BY_FIELD: Record<ManagedAuthField['type'], InputKind> = {
  identifier: 'text',
  password: 'password',
  code: 'code',
  totp_code: 'totp',
  totp_secret: 'text',
  text: 'text',
};

const KEPT = new Map<string, ChoiceView['keeps']>([
  [CREATE_PASSKEY, 'passkey'],
  [KEEP_AUTHENTICATOR, 'authenticator'],
]);

function choiceView(choice: ManagedAuthChoice): ChoiceView {
  const label = choice.display_text || choice.label;
  const details = [choice.masked_destination, choice.description, choice.context];
  return {
    id: choice.id,
    type: choice.type,
    label,
    details: [...new Set(details)].filter((text): text is string => Boolean(text) && text !== label).slice(0, 2),
    mfa: choice.mfa_type ?? null,
    keeps: KEPT.get(choice.id) ?? null,
  };
}
