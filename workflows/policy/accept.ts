import type { Interaction } from '../../contract/interaction.ts';
import type { RefusalCode, SubmitInput } from '../messages.ts';

/**
 * Why an answer cannot be taken, or null when it can. It is held against what callers see, so that whoever answers what is
 * shown is never told that nothing waits. Pure.
 * @param interaction the one that waits, or null.
 */
export function refusalOf(
  interaction: Interaction | null,
  input: SubmitInput,
): { code: RefusalCode; message: string } | null {
  if (interaction === null) return { code: 'not_awaiting_input', message: 'Nothing awaits input on this connection' };
  if (interaction.interaction_id !== input.interactionId)
    return {
      code: 'stale_interaction',
      message: '`interaction_id` is not the pending one; read the connection and answer its current interaction',
    };
  const { fields, choices } = interaction;
  const unknown = input.fieldIds.find((given) => fields.every(({ id }) => id !== given));
  if (unknown !== undefined)
    return { code: 'unknown_field', message: `\`${unknown}\` is not a field of the pending interaction` };
  if (input.selectedChoiceId !== null && choices.every(({ id }) => id !== input.selectedChoiceId))
    return {
      code: 'unknown_choice',
      message: `\`${input.selectedChoiceId}\` is not a choice of the pending interaction`,
    };
  if (input.selectedChoiceId === null) {
    const missing = fields.find(({ id, required }) => required === true && !input.fieldIds.includes(id));
    if (missing !== undefined) return { code: 'missing_field', message: `\`${missing.id}\` is required` };
    if (input.fieldIds.length === 0)
      return { code: 'invalid_input', message: 'Give values for fields, or `selected_choice_id`' };
  }
  return null;
}
