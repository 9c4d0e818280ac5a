import type { Answer } from '../../contract/activities.ts';
import { frameOf, type Hands } from './fill.ts';
import { hasFocus, lengthOfValue } from './page-checks.ts';
import { pressKey } from '../../browser-client/computer.ts';

/** How long a page may take to go on from the Return key, in milliseconds. */
const RETURN_ANSWERED_WITHIN_MS = 500;

/**
 * Leaves the lone field of a form without a button where the Return key has led nowhere: some pages ask for the password when
 * the name has lost the focus. A form that was sent, or has gone on, is left alone.
 */
export async function leaveField(hands: Hands, entries: Answer['entries']): Promise<void> {
  const [only, ...others] = entries;
  if (only === undefined || others.length > 0 || only.field.type !== 'identifier') return;
  await new Promise((resolve) => setTimeout(resolve, RETURN_ANSWERED_WITHIN_MS));
  const frame = await frameOf(hands.page, only.field).catch(() => null);
  const field = await frame?.$(only.field.selector).catch(() => null);
  const stands = await Promise.all([field?.evaluate(hasFocus), field?.evaluate(lengthOfValue)]).catch(() => [false]);
  if (stands.every(Boolean)) await pressKey(hands.service, hands.computer, { keys: ['Tab'] });
}
