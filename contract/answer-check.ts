import type { Interaction } from './interaction.ts';

/** Id of the choice to have the site create a passkey, which Holdfast keeps; callers may word it themselves. */
export const CREATE_PASSKEY = 'create_passkey';

/** Id of the choice to have Holdfast keep the authenticator that a page offers; callers may word it themselves. */
export const KEEP_AUTHENTICATOR = 'keep_authenticator';

/** Name under which a mailed sign-in link is passed to the flow. No field has it, and no caller can submit it. */
export const MAILED_LINK = 'mailed_link';

/** Which fields an answer has values for and which choice it picks; no values. */
interface AnswerOutline {
  fieldIds: readonly string[];
  /** Those of `fieldIds` with an empty value. */
  emptyIds?: readonly string[];
  choiceId: string | null;
}

/** What is wrong with an answer, and the ids of the fields or the choice concerned. */
export interface AnswerFault {
  code: 'unknown_field' | 'unknown_choice' | 'missing_field' | 'invalid_input';
  ids: string[];
}

/** Why an answer does not fit, or null. Checked by the API before sealing, and by the workflow on its newer state. */
export function checkAnswer(
  { fields, choices }: Pick<Interaction, 'fields' | 'choices'>,
  { fieldIds, emptyIds = [], choiceId }: AnswerOutline,
): AnswerFault | null {
  const unknown = fieldIds.filter((given) => fields.every(({ id }) => id !== given));
  if (unknown.length > 0) return { code: 'unknown_field', ids: unknown };
  if (choiceId !== null) {
    // A choice leaves the form beside it, so the form need not be complete.
    const isOffered = choices.some(({ id }) => id === choiceId);
    return isOffered ? null : { code: 'unknown_choice', ids: [choiceId] };
  }
  const missing = fields.filter(
    ({ id, required }) => required !== false && (!fieldIds.includes(id) || emptyIds.includes(id)),
  );
  if (missing.length > 0) return { code: 'missing_field', ids: missing.map(({ id }) => id) };
  return fieldIds.length === 0 ? { code: 'invalid_input', ids: [] } : null;
}
