import { assertNever } from './assert-never.ts';
import type { ConnectionSubmit } from './connections.ts';
import { HoldfastError, type ErrorCode, type ErrorDetail } from './errors.ts';
import type { Interaction } from './interaction.ts';

/** The one form in which a submit speaks (wire.md, "Submit"). */
export type SubmitMode =
  | { mode: 'canonical'; values: Record<string, string>; choiceId: string | null }
  | { mode: 'fields'; values: Record<string, string> }
  | { mode: 'mfa_option'; option: string }
  | { mode: 'sign_in_option'; optionId: string }
  | { mode: 'sso_button'; selector: string }
  | { mode: 'sso_provider'; provider: string };

/** An answer in the terms of one interaction: values by field id, and the choice. */
export interface InteractionAnswer {
  interactionId: string;
  values: Record<string, string>;
  choiceId: string | null;
}

/**
 * Which form a body uses. Exactly one: none, two, or the canonical one without `interaction_id` is `invalid_input`.
 * An empty map counts as absent.
 * @param pendingId the interaction that waits, for the message to a caller who left it out.
 */
export function selectSubmitMode(body: ConnectionSubmit, pendingId: string | null): SubmitMode {
  const values = notEmpty(body.field_values);
  const fields = notEmpty(body.fields);
  const modes: [name: string, mode: SubmitMode][] = [];
  if (values !== null || body.selected_choice_id !== undefined) {
    const mode = { mode: 'canonical', values: values ?? {}, choiceId: body.selected_choice_id ?? null } as const;
    modes.push(['field_values or selected_choice_id', mode]);
  }
  if (fields !== null) modes.push(['fields', { mode: 'fields', values: fields }]);
  if (body.mfa_option_id !== undefined) {
    modes.push(['mfa_option_id', { mode: 'mfa_option', option: body.mfa_option_id }]);
  }
  if (body.sign_in_option_id !== undefined) {
    modes.push(['sign_in_option_id', { mode: 'sign_in_option', optionId: body.sign_in_option_id }]);
  }
  if (body.sso_button_selector !== undefined) {
    modes.push(['sso_button_selector', { mode: 'sso_button', selector: body.sso_button_selector }]);
  }
  if (body.sso_provider !== undefined) {
    modes.push(['sso_provider', { mode: 'sso_provider', provider: body.sso_provider }]);
  }
  const [first, second] = modes;
  if (first === undefined) {
    throw refusal('invalid_input', 'field_values: is empty; submit field_values or selected_choice_id');
  }
  if (second !== undefined) {
    throw refusal('invalid_input', `${second[0]}: cannot be combined with ${first[0]}; submit one form at a time`);
  }
  if (first[1].mode === 'canonical' && body.interaction_id === undefined) {
    const pending = pendingId === null ? 'nothing is pending now' : `the pending one is ${pendingId}`;
    const rule = 'is required with field_values and selected_choice_id; read it from GET /auth/connections/{id}';
    throw refusal('invalid_input', `interaction_id: ${rule} (${pending})`);
  }
  return first[1];
}

/**
 * What a submit means for the interaction that waits. Throws `unknown_field`, `unknown_choice` or `missing_field`, naming
 * each; nothing of a value is in a message.
 */
export function answerFor(mode: SubmitMode, interaction: Interaction): InteractionAnswer {
  const answer = { interactionId: interaction.interaction_id, values: {}, choiceId: null };
  switch (mode.mode) {
    case 'canonical': {
      const { values, choiceId } = mode;
      const known = interaction.fields.map(({ id }) => id);
      refuseUnknown('field_values', Object.keys(values), known);
      if (choiceId !== null && !interaction.choices.some(({ id }) => id === choiceId)) {
        throw refusal('unknown_choice', 'selected_choice_id: is not a choice of the pending interaction');
      }
      // A choice leads away from the form beside it, so the form need not be complete.
      if (choiceId === null) refuseMissing('field_values', values, interaction);
      return { ...answer, values, choiceId };
    }
    case 'fields': {
      const names = interaction.discovered_fields.map(({ name }) => name);
      refuseUnknown('fields', Object.keys(mode.values), names);
      const values = Object.fromEntries(
        Object.entries(mode.values).map(([name, value]) => {
          const id = interaction.fields[names.indexOf(name)]?.id;
          if (id === undefined)
            throw refusal('unknown_field', `fields.${name}: is not a field of the pending interaction`);
          return [id, value];
        }),
      );
      refuseMissing('fields', values, interaction);
      return { ...answer, values };
    }
    case 'mfa_option': {
      return { ...answer, choiceId: requireChoice('mfa_option_id', mfaChoice(interaction, mode.option)) };
    }
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
    default:
      return assertNever(mode);
  }
}

/** By its type, the first of them; where several have it, by what tells them apart: the id, the destination or the label. */
function mfaChoice({ choices }: Interaction, option: string): string | undefined {
  const methods = choices.filter(({ type }) => type === 'mfa_method');
  const named = methods.find((choice) => [choice.id, choice.masked_destination, choice.label].includes(option));
  return (named ?? methods.find(({ mfa_type: type }) => type === option))?.id;
}

/** Both lists name the same buttons in the same order. */
function ssoChoiceAt(interaction: Interaction, index: number): string | undefined {
  return interaction.choices.filter(({ type }) => type === 'sso_provider')[index]?.id;
}

function requireChoice(property: string, id: string | undefined): string {
  if (id === undefined) throw refusal('unknown_choice', `${property}: is not a choice of the pending interaction`);
  return id;
}

function refuseUnknown(property: string, given: string[], known: string[]): void {
  const unknown = given.filter((name) => !known.includes(name));
  if (unknown.length === 0) return;
  throw refusal(
    'unknown_field',
    ...unknown.map((name) => `${property}.${cut(name)}: is not a field of the pending interaction`),
  );
}

function refuseMissing(property: string, values: Record<string, string>, interaction: Interaction): void {
  const missing = interaction.fields.flatMap((field, index) => {
    if (field.required === false || (values[field.id] ?? '') !== '') return [];
    return property === 'fields' ? [interaction.discovered_fields[index]?.name ?? field.id] : [field.id];
  });
  if (missing.length === 0) return;
  throw refusal('missing_field', ...missing.map((name) => `${property}.${name}: is required`));
}

function refusal(code: ErrorCode, ...messages: string[]): HoldfastError {
  const details: ErrorDetail[] = messages.slice(0, 50).map((message) => ({ code, message }));
  return new HoldfastError(code, messages[0] ?? 'The submit is refused; read the connection again', { details });
}

function notEmpty(map: Record<string, string> | undefined): Record<string, string> | null {
  return map === undefined || Object.keys(map).length === 0 ? null : map;
}

function cut(name: string): string {
  return name.length > 100 ? `${name.slice(0, 100)}…` : name;
}
