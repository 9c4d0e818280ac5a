import type { RefusalCode, SubmitInput } from '../messages.ts';
import type { Question } from './decide.ts';

/** What an answer is held against. */
export interface Awaiting {
  pause: { question: Question; interactionId: string; answer: SubmitInput | null } | null;
  appliedSubmissions: string[];
}

/** Why an answer cannot be taken, or null when it can (or was taken before: the same submission does no harm). Pure. */
export function refusalOf(state: Awaiting, input: SubmitInput): { code: RefusalCode; message: string } | null {
  const { pause } = state;
  if (input.submissionId !== null && state.appliedSubmissions.includes(input.submissionId)) return null;
  if (pause === null || pause.answer !== null)
    return { code: 'not_awaiting_input', message: 'Nothing awaits input on this connection.' };
  if (pause.interactionId !== input.interactionId)
    return {
      code: 'stale_interaction',
      message: '`interaction_id` is not the one that waits now; read the connection.',
    };
  const { fields, choices } = pause.question;
  const unknown = input.fieldIds.find((id) => fields.every((field) => field.id !== id));
  if (unknown !== undefined) return { code: 'unknown_field', message: `\`${unknown}\` is not a field that waits.` };
  if (input.selectedChoiceId !== null && choices.every(({ id }) => id !== input.selectedChoiceId))
    return { code: 'unknown_choice', message: `\`${input.selectedChoiceId}\` is not a choice that waits.` };
  if (input.selectedChoiceId === null) {
    const missing = fields.find(({ id, field }) => field.required && !input.fieldIds.includes(id));
    if (missing !== undefined) return { code: 'missing_field', message: `\`${missing.id}\` is required.` };
    if (input.fieldIds.length === 0)
      return { code: 'invalid_input', message: 'Give values for fields, or `selected_choice_id`.' };
  }
  return null;
}
