import { checkAnswer, type AnswerFault } from './answer-check.ts';
import { assertNever } from './assert-never.ts';
import type { ConnectionSubmit } from './connections.ts';
import { HoldfastError, type ErrorCode, type ErrorDetail } from './errors.ts';
import type { Interaction } from './interaction.ts';

/** The form that a submit uses (wire.md, "Submit"). */
export type SubmitMode =
  | { mode: 'canonical'; values: Record<string, string>; choiceId: string | null }
  | { mode: 'fields'; values: Record<string, string> }
  | { mode: 'mfa_option'; option: string }
  | { mode: 'sign_in_option'; optionId: string }
  | { mode: 'sso_button'; selector: string }
  | { mode: 'sso_provider'; provider: string }
  | { mode: 'wrong_form' };

/** An answer to one interaction: values by field id, and the choice. */
export interface InteractionAnswer {
  interactionId: string;
  values: Record<string, string>;
  choiceId: string | null;
  /** True if the form is the wrong one and is not answered. */
  wrongForm?: true;
}

/** The form that a body uses: exactly one. `pendingId`: the pending interaction, for error messages. */
export function selectSubmitMode(body: ConnectionSubmit, pendingId: string | null): SubmitMode {
  const values = notEmpty(body.field_values);
  const fields = notEmpty(body.fields);
  const modes: [name: string, mode: SubmitMode][] = [];
  const { selected_choice_id: choiceId = null, mfa_option_id: option, sign_in_option_id: optionId } = body;
  const { sso_button_selector: selector, sso_provider: provider } = body;
  if (values !== null || choiceId !== null)
    modes.push(['field_values or selected_choice_id', { mode: 'canonical', values: values ?? {}, choiceId }]);
  if (fields !== null) modes.push(['fields', { mode: 'fields', values: fields }]);
  if (option !== undefined) modes.push(['mfa_option_id', { mode: 'mfa_option', option }]);
  if (optionId !== undefined) modes.push(['sign_in_option_id', { mode: 'sign_in_option', optionId }]);
  if (selector !== undefined) modes.push(['sso_button_selector', { mode: 'sso_button', selector }]);
  if (provider !== undefined) modes.push(['sso_provider', { mode: 'sso_provider', provider }]);
  if (body.wrong_form !== undefined) modes.push(['wrong_form', { mode: 'wrong_form' }]);
  const [first, second] = modes;
  if (first === undefined) throw faultError({ code: 'invalid_input', ids: [] }, 'field_values');
  if (second !== undefined) {
    throw refusal('invalid_input', `${second[0]}: cannot be combined with ${first[0]}; submit one form at a time`);
  }
  const { mode } = first[1];
  if ((mode === 'canonical' || mode === 'wrong_form') && body.interaction_id === undefined) {
    const pending = pendingId === null ? 'nothing is pending now' : `the pending one is ${pendingId}`;
    const rule =
      'is required with field_values, selected_choice_id and wrong_form; read it from GET /auth/connections/{id}';
    throw refusal('invalid_input', `interaction_id: ${rule} (${pending})`);
  }
  return first[1];
}

/** The answer to the pending interaction. Throws `unknown_field`, `unknown_choice` or `missing_field`, without values. */
export function resolveAnswer(mode: SubmitMode, interaction: Interaction): InteractionAnswer {
  const answer = { interactionId: interaction.interaction_id, values: {}, choiceId: null };
  switch (mode.mode) {
    case 'canonical':
      return checked({ ...answer, values: mode.values, choiceId: mode.choiceId }, interaction, 'field_values');
    case 'fields':
      return checked({ ...answer, values: valuesById(mode.values, interaction) }, interaction, 'fields');
    case 'mfa_option':
      return { ...answer, choiceId: requireChoice('mfa_option_id', mfaChoice(interaction, mode.option)) };
    case 'sign_in_option': {
      const offered = interaction.sign_in_options.find(({ id }) => id === mode.optionId);
      return { ...answer, choiceId: requireChoice('sign_in_option_id', offered?.id) };
    }
    case 'sso_button': {
      const at = interaction.pending_sso_buttons.findIndex(({ selector }) => selector === mode.selector);
      return { ...answer, choiceId: requireChoice('sso_button_selector', ssoChoiceAt(interaction, at)) };
    }
    case 'sso_provider': {
      const wanted = mode.provider.toLowerCase();
      const at = interaction.pending_sso_buttons.findIndex(({ provider }) => provider.toLowerCase() === wanted);
      return { ...answer, choiceId: requireChoice('sso_provider', ssoChoiceAt(interaction, at)) };
    }
    case 'wrong_form':
      return { ...answer, wrongForm: true };
    default:
      return assertNever(mode);
  }
}

/** By id, destination or label; otherwise the first of the given type. */
function mfaChoice({ choices }: Interaction, option: string): string | undefined {
  const methods = choices.filter(({ type }) => type === 'mfa_method');
  const named = methods.find((choice) => [choice.id, choice.masked_destination, choice.label].includes(option));
  return (named ?? methods.find(({ mfa_type: type }) => type === option))?.id;
}

/** Both lists have the same buttons in the same order. */
function ssoChoiceAt(interaction: Interaction, index: number): string | undefined {
  return interaction.choices.filter(({ type }) => type === 'sso_provider')[index]?.id;
}

function requireChoice(property: string, id: string | undefined): string {
  if (id === undefined) throw refusal('unknown_choice', `${property}: is not a choice of the pending interaction`);
  return id;
}

/** Older clients use the page's field names; both lists have the same fields in the same order. */
function valuesById(values: Record<string, string>, interaction: Interaction): Record<string, string> {
  const names = interaction.discovered_fields.map(({ name }) => name);
  const idOf = (name: string): string | undefined => interaction.fields[names.indexOf(name)]?.id;
  const unknown = Object.keys(values).filter((name) => idOf(name) === undefined);
  if (unknown.length > 0) throw faultError({ code: 'unknown_field', ids: unknown }, 'fields');
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [idOf(name) ?? name, value]));
}

/** The answer, if it fits the interaction. `property` holds the caller's values, for error messages. */
function checked(
  answer: InteractionAnswer,
  interaction: Interaction,
  property: 'field_values' | 'fields',
): InteractionAnswer {
  const fieldIds = Object.keys(answer.values);
  const emptyIds = fieldIds.filter((id) => answer.values[id] === '');
  const fault = checkAnswer(interaction, { fieldIds, emptyIds, choiceId: answer.choiceId });
  if (fault === null) return answer;
  if (property === 'field_values') throw faultError(fault, property);
  const nameOf = (id: string): string =>
    interaction.discovered_fields[interaction.fields.findIndex((field) => field.id === id)]?.name ?? id;
  throw faultError({ ...fault, ids: fault.ids.map(nameOf) }, property);
}

function faultError({ code, ids }: AnswerFault, property: 'field_values' | 'fields'): HoldfastError {
  switch (code) {
    case 'unknown_field':
      return refusal(code, ...ids.map((id) => `${property}.${cut(id)}: is not a field of the pending interaction`));
    case 'missing_field':
      return refusal(code, ...ids.map((id) => `${property}.${id}: is required`));
    case 'unknown_choice':
      return refusal(code, 'selected_choice_id: is not a choice of the pending interaction');
    case 'invalid_input':
      return refusal(code, `${property}: is empty; submit field_values or selected_choice_id`);
  }
}

function refusal(code: ErrorCode, ...messages: string[]): HoldfastError {
  const details: ErrorDetail[] = messages.slice(0, 50).map((message) => ({ code, message }));
  return new HoldfastError(code, messages[0] ?? 'The submit was rejected; read the connection again', { details });
}

function notEmpty(map: Record<string, string> | undefined): Record<string, string> | null {
  return map === undefined || Object.keys(map).length === 0 ? null : map;
}

function cut(name: string): string {
  return name.length > 100 ? `${name.slice(0, 100)}…` : name;
}
