import type { ClickMouse, PressKey, TypeText } from '../../contract/computer.ts';
import type { BrowserService } from './service.ts';
import { sessionPath } from './sessions.ts';

/** The session whose mouse and keyboard are used. */
export interface ComputerTarget {
  projectId: string;
  sessionId: string;
}

/** Clicks at a point of the viewport, in CSS pixels. */
export function clickMouse(
  service: BrowserService,
  target: ComputerTarget,
  body: Pick<ClickMouse, 'x' | 'y'>,
): Promise<null> {
  return act(service, target, 'click_mouse', body);
}

/** Types text into what has the focus. The text goes nowhere but into the request's body. */
export function typeText(service: BrowserService, target: ComputerTarget, body: Pick<TypeText, 'text'>): Promise<null> {
  return act(service, target, 'type', body);
}

/** Presses keys or combinations of keys. */
export function pressKey(service: BrowserService, target: ComputerTarget, body: Pick<PressKey, 'keys'>): Promise<null> {
  return act(service, target, 'press_key', body);
}

function act(service: BrowserService, target: ComputerTarget, action: string, body: unknown): Promise<null> {
  return service.call({
    method: 'POST',
    path: `${sessionPath(target.sessionId)}/computer/${action}`,
    projectId: target.projectId,
    body,
    schema: null,
  });
}
