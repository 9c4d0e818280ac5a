import type { Readable } from 'node:stream';
import type { z } from 'zod';
import type {
  Batch,
  ClickMouse,
  DragMouse,
  MoveMouse,
  PressKey,
  Screenshot,
  Scroll,
  SetCursor,
  TypeText,
} from '../contract/computer.ts';
import { MousePosition, PAGE_HEADER } from '../contract/computer.ts';
import { FocusedControl, type PickedValue } from '../contract/screencast.ts';
import { readWhole } from './answers.ts';
import type { BrowserService, ServiceCall } from './service.ts';
import type { SessionTarget } from './sessions.ts';
import { sessionPath } from './sessions.ts';

/** Largest picture that is taken from a peer, in bytes. */
const MAX_PICTURE_BYTES = 64 * 1024 * 1024;

/** A session, or one page of it: input for that page is refused while another one is in front. */
export interface InputTarget extends SessionTarget {
  /** Target id of the page. */
  pageId?: string | undefined;
}

/** Clicks at a point of the viewport, in CSS pixels. */
export function clickMouse(
  service: BrowserService,
  target: InputTarget,
  body: z.input<typeof ClickMouse>,
): Promise<null> {
  return act(service, target, 'click_mouse', body);
}

/** Moves the pointer, by a human-like way unless asked otherwise. */
export function moveMouse(
  service: BrowserService,
  target: SessionTarget,
  body: z.input<typeof MoveMouse>,
): Promise<null> {
  return act(service, target, 'move_mouse', body);
}

/** Drags along a path. Not retried by itself: what was dragged may have arrived. */
export function dragMouse(
  service: BrowserService,
  target: SessionTarget,
  body: z.input<typeof DragMouse>,
): Promise<null> {
  return act(service, target, 'drag_mouse', body);
}

/** Turns the wheel at a point; deltas are notches. */
export function scroll(service: BrowserService, target: SessionTarget, body: z.input<typeof Scroll>): Promise<null> {
  return act(service, target, 'scroll', body);
}

/** Types text into what has the focus. The text goes nowhere but into the request's body. */
export function typeText(service: BrowserService, target: InputTarget, body: z.input<typeof TypeText>): Promise<null> {
  return act(service, target, 'type', body);
}

/** Presses keys or combinations of keys. */
export function pressKey(service: BrowserService, target: InputTarget, body: z.input<typeof PressKey>): Promise<null> {
  return act(service, target, 'press_key', body);
}

/** Hides or shows the pointer. */
export function setCursor(
  service: BrowserService,
  target: SessionTarget,
  body: z.input<typeof SetCursor>,
): Promise<null> {
  return act(service, target, 'cursor', body);
}

/** Runs up to 100 actions in order, to the first that fails. Not retried by itself: some may have been done. */
export function batch(service: BrowserService, target: SessionTarget, body: z.input<typeof Batch>): Promise<null> {
  return act(service, target, 'batch', body);
}

/** Where the pointer is, in CSS pixels of the viewport. */
export function mousePosition(service: BrowserService, target: SessionTarget): Promise<MousePosition> {
  return service.call({ ...callOf(target, 'get_mouse_position', {}), schema: MousePosition });
}

/** A picture of the viewport, or of a part of it: a PNG. */
export async function screenshot(
  service: BrowserService,
  target: SessionTarget,
  body: z.input<typeof Screenshot> = {},
): Promise<Buffer> {
  return readWhole(await service.open(callOf(target, 'screenshot', body)), MAX_PICTURE_BYTES);
}

/**
 * The page as pictures, an event stream that sends one (`ScreencastFrame`) whenever the page has changed, until the session or
 * `signal` ends it. Whoever takes it reads or destroys it.
 */
export function openScreencast(
  service: BrowserService,
  { projectId, sessionId }: SessionTarget,
  signal: AbortSignal,
): Promise<Readable> {
  const path = `${sessionPath(sessionId)}/computer/screencast`;
  return service.open({ method: 'GET', path, projectId, schema: null, signal, endless: true });
}

/** What has the keyboard in the page in use. */
export function focusedControl(service: BrowserService, target: SessionTarget): Promise<FocusedControl> {
  return service.call({ ...callOf(target, 'get_focused_control', {}), schema: FocusedControl });
}

/** Chooses in the list or picker that has the keyboard. Fails with `browser_error` where the value fits none. */
export function pickInFocusedControl(service: BrowserService, target: SessionTarget, body: PickedValue): Promise<null> {
  return act(service, target, 'pick', body);
}

function act(service: BrowserService, target: InputTarget, action: string, body: unknown): Promise<null> {
  const headers = target.pageId === undefined ? {} : { [PAGE_HEADER]: target.pageId };
  return service.call({ ...callOf(target, action, body), headers });
}

function callOf({ projectId, sessionId }: SessionTarget, action: string, body: unknown): ServiceCall<null> {
  return { method: 'POST', path: `${sessionPath(sessionId)}/computer/${action}`, projectId, body, schema: null };
}
