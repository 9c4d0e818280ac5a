import { assertNever } from '../../contract/assert-never.ts';
import { viewerTarget } from '../computer/input.ts';
import { keyOfCharacter, keyOfName, type KeyDefinition } from '../computer/keys.ts';
import { moveTo, press, release } from '../computer/mouse.ts';
import type { Session } from '../session/session.ts';
import type { ViewerMessage } from './messages.ts';

/** Pixels per wheel notch. */
const NOTCH_PX = 120;

/** Applies a viewer's input. Rejects if the page cannot take it now. */
export async function applyViewerInput(session: Session, message: ViewerMessage): Promise<void> {
  if (message.type === 'dialog') return answerDialog(session, message.accept, message.text);
  const target = viewerTarget(session);
  switch (message.type) {
    case 'move':
      return moveTo(session, target, message, message.modifiers);
    case 'press':
      await moveTo(session, target, message, message.modifiers);
      return press(session, target, message.button, message.clicks, message.modifiers);
    case 'release':
      await moveTo(session, target, message, message.modifiers);
      return release(session, target, message.button, message.clicks, message.modifiers);
    case 'wheel':
      await moveTo(session, target, message, message.modifiers);
      return target.device.wheel({ x: message.deltaX / NOTCH_PX, y: message.deltaY / NOTCH_PX }, message.modifiers);
    case 'keydown':
    case 'keyup': {
      const definition = definitionOf(message.key);
      const down = message.type === 'keydown';
      if (definition !== undefined) {
        await (down
          ? target.device.keyDown(definition, message.modifiers)
          : target.device.keyUp(definition, message.modifiers));
      } else if (down && isOneCharacter(message.key)) {
        await target.device.insertText(message.key);
      }
      return;
    }
    case 'text':
      return target.device.insertText(message.text);
    default:
      return assertNever(message);
  }
}

/** Looks up a key by `KeyboardEvent.key`: characters of a US keyboard, and named keys. */
function definitionOf(key: string): KeyDefinition | undefined {
  return (isOneCharacter(key) ? keyOfCharacter(key) : keyOfName(key))?.definition;
}

function isOneCharacter(key: string): boolean {
  return Array.from(key).length === 1;
}

async function answerDialog(session: Session, accept: boolean, promptText: string | undefined): Promise<void> {
  const { cdp, pages } = session.chromium;
  const page = pages.active();
  if (page?.dialog === null || page === undefined) return;
  const text = promptText === undefined ? {} : { promptText };
  await cdp.send('Page.handleJavaScriptDialog', { accept, ...text }, page.sessionId);
}
