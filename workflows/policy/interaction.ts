import { CREATE_PASSKEY, KEEP_AUTHENTICATOR } from '../../contract/answer-check.ts';
import type {
  DiscoveredField,
  Interaction,
  ManagedAuthChoice,
  ManagedAuthField,
  MfaOption,
  SignInOption,
} from '../../contract/interaction.ts';
import type { ReadChoice, ReadField } from '../../contract/reading.ts';
import type { NamedField } from './field-refs.ts';

/** A pending field: its public id and `ref`, what was read, and why it is asked for. */
export interface AskedField extends NamedField {
  id: string;
  reason: 'missing' | 'rejected';
}

/** A pending choice. */
export interface AskedChoice {
  id: string;
  choice: ReadChoice;
}

/** Gives every item an id made of its words, so that the same page asks under the same ids again. */
function withIds<Item>(prefix: string, items: Item[], words: (item: Item) => string): { id: string; item: Item }[] {
  const seen = new Map<string, number>();
  return items.map((item) => {
    const slug =
      words(item)
        .toLowerCase()
        .replace(/[^a-z0-9]+/g, '_')
        .replace(/^_+|_+$/g, '')
        .slice(0, 60) || 'unnamed';
    const count = (seen.get(slug) ?? 0) + 1;
    seen.set(slug, count);
    return { id: count === 1 ? `${prefix}_${slug}` : `${prefix}_${slug}_${count}`, item };
  });
}

/** Gives a page's fields their ids, in order. */
export function identifyFields(named: NamedField[]): (NamedField & { id: string })[] {
  return withIds('field', named, ({ field }) => field.name || field.label).map(({ id, item }) => ({ id, ...item }));
}

/** Gives a page's choices their ids, in order. */
export function identifyChoices(choices: ReadChoice[]): AskedChoice[] {
  const providers = choices.map(({ provider }) => provider?.toLowerCase());
  return withIds('choice', choices, choiceWords).map(({ id, item: choice }, index) => {
    if (choice.uses === 'new_passkey') return { id: CREATE_PASSKEY, choice };
    if (choice.uses === 'new_authenticator') return { id: KEEP_AUTHENTICATOR, choice };
    const name = choice.type === 'sso_provider' ? providers[index] : undefined;
    const isPlain = name !== undefined && /^[a-z][a-z0-9_-]*$/.test(name);
    // Clients show provider ids to people, who know the provider by its name.
    return { id: isPlain && providers.indexOf(name) === providers.lastIndexOf(name) ? name : id, choice };
  });
}

const PASSKEY_DESCRIPTION = 'Holdfast keeps the passkey, encrypted, and signs in with it from then on';

/** What distinguishes a choice from the others of its page, regardless of its position. */
function choiceWords(choice: ReadChoice): string {
  const destination = choice.masked_destination ?? '';
  const label = choice.label.includes(destination) ? choice.label : `${choice.label} ${destination}`;
  return `${choice.type} ${choice.provider ?? choice.mfa_type ?? ''} ${label}`;
}

/** What callers see during a pause, in the canonical form and the older ones. */
export function presentInteraction(interactionId: string, fields: AskedField[], choices: AskedChoice[]): Interaction {
  return {
    interaction_id: interactionId,
    fields: fields.map(presentField),
    choices: choices.map(presentChoice),
    discovered_fields: fields.map(presentDiscoveredField),
    mfa_options: choices.flatMap(({ choice }) => presentMfaOption(choice)),
    pending_sso_buttons: choices.flatMap(({ choice }) =>
      choice.type === 'sso_provider'
        ? [{ selector: choice.xpath, provider: choice.provider ?? choice.label, label: choice.label }]
        : [],
    ),
    sign_in_options: choices.flatMap((asked) =>
      asked.choice.type === 'sso_provider' || presentMfaOption(asked.choice).length > 0
        ? []
        : [presentSignInOption(asked)],
    ),
  };
}

function presentField({ id, ref, field, reason }: AskedField): ManagedAuthField {
  return {
    id,
    ref,
    type: field.type,
    reason,
    label: field.label,
    ...(field.hint === null ? {} : { hint: field.hint }),
    observed_selector: field.selector,
    required: field.required,
  };
}

function presentDiscoveredField({ field }: AskedField): DiscoveredField {
  return {
    name: field.name,
    type: field.discovered_type,
    label: field.label,
    selector: field.selector,
    ...(field.placeholder === null ? {} : { placeholder: field.placeholder }),
    ...(field.hint === null ? {} : { hint: field.hint }),
    required: field.required,
    linked_mfa_type: linkedMfaType(field),
  };
}

function linkedMfaType(field: ReadField): DiscoveredField['linked_mfa_type'] {
  if (field.type === 'totp_code') return 'totp';
  return field.channel === undefined || field.channel === 'unknown' ? null : field.channel;
}

function presentChoice({ id, choice }: AskedChoice): ManagedAuthChoice {
  return {
    id,
    type: choice.type,
    label: choice.label,
    context: null,
    description: choice.uses === 'new_passkey' ? PASSKEY_DESCRIPTION : choice.description,
    display_text: choice.label,
    masked_destination: choice.masked_destination,
    observed_selector: choice.selector,
    mfa_type: choice.mfa_type ?? null,
  };
}

/** A method that has no type in the older form (a backup code, a security key) becomes a sign-in option there. */
function presentMfaOption(choice: ReadChoice): MfaOption[] {
  const { type, mfa_type: method, label, masked_destination: target, description } = choice;
  return type === 'mfa_method' && method !== undefined ? [{ type: method, label, target, description }] : [];
}

function presentSignInOption(asked: AskedChoice): SignInOption {
  const { id, label, description = null } = presentChoice(asked);
  return { id, label, description };
}
