import type { Session } from '../session/session.ts';
import type { TypedCharacter } from './keys.ts';

/**
 * Answers the dialog (alert, confirm, prompt, "leave page?") that holds the active page, when the keys would do so on a
 * screen: Enter and Space accept, Escape dismisses. False when no dialog is open or the keys mean nothing to it.
 */
export async function answerDialog(session: Session, keys: TypedCharacter[]): Promise<boolean> {
  const page = session.chromium.pages.active();
  const key = keys.length === 1 ? keys[0]?.definition.key : undefined;
  if (page === undefined || page.dialog === null || key === undefined) return false;
  const accept = key === 'Enter' || key === ' ';
  if (!accept && key !== 'Escape') return false;
  await session.chromium.cdp.send('Page.handleJavaScriptDialog', { accept }, page.sessionId);
  return true;
}
