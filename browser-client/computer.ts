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

/** Largest screenshot that is accepted, in bytes. */
const MAX_PICTURE_BYTES = 64 * 1024 * 1024;

/** A session, or one page of it: input for that page is rejected while another one is in front. */
export interface InputTarget extends SessionTarget {
  /** Target id of the page. */
  pageId?: string | undefined;
}

type Action<Schema extends z.ZodType> = (
  service: BrowserService,
  target: InputTarget,
  body: z.input<Schema>,
) => Promise<null>;

/** Clicks at a point of the viewport, in CSS pixels. */
export const clickMouse: Action<typeof ClickMouse> = action('click_mouse');

/** Moves the pointer, along a human-like path unless asked otherwise. */
export const moveMouse: Action<typeof MoveMouse> = action('move_mouse');

/** Drags along a path. Not retried: the drag may have arrived. */
export const dragMouse: Action<typeof DragMouse> = action('drag_mouse');

/** Scrolls at a point; deltas are notches of a wheel. */
export const scroll: Action<typeof Scroll> = action('scroll');

/** Types text into the focused element. The text is sent in the request body only. */
export const typeText: Action<typeof TypeText> = action('type');

/** Presses keys or key combinations. */
export const pressKey: Action<typeof PressKey> = action('press_key');

/** Hides or shows the pointer. */
export const setCursor: Action<typeof SetCursor> = action('cursor');

/** Runs up to 100 actions in order, until one fails. Not retried: some may have been carried out. */
export const batch: Action<typeof Batch> = action('batch');

/** Chooses in the focused list or picker. Fails with `browser_error` if the value fits neither. */
export const pickInFocusedControl: (service: BrowserService, target: InputTarget, body: PickedValue) => Promise<null> =
  action('pick');

/** Returns the pointer's position, in CSS pixels of the viewport. */
export function mousePosition(service: BrowserService, target: SessionTarget): Promise<MousePosition> {
  return service.call({ ...callOf(target, 'get_mouse_position', {}), schema: MousePosition });
}

/** Takes a screenshot of the viewport or a region of it, as PNG. */
export async function screenshot(
  service: BrowserService,
  target: SessionTarget,
  body: z.input<typeof Screenshot> = {},
): Promise<Buffer> {
  return readWhole(await service.open(callOf(target, 'screenshot', body)), MAX_PICTURE_BYTES);
}

/**
 * Opens an event stream with a `ScreencastFrame` for each change of the page, until the session ends or `signal` aborts. The
 * caller reads or destroys it.
 */
export function openScreencast(
  service: BrowserService,
  { projectId, sessionId }: SessionTarget,
  signal: AbortSignal,
): Promise<Readable> {
  const path = `${sessionPath(sessionId)}/computer/screencast`;
  return service.open({ method: 'GET', path, projectId, schema: null, signal, endless: true });
}

/** Describes the focused form control of the active page. */
export function focusedControl(service: BrowserService, target: SessionTarget): Promise<FocusedControl> {
  return service.call({ ...callOf(target, 'get_focused_control', {}), schema: FocusedControl });
}

function action(name: string) {
  return (service: BrowserService, target: InputTarget, body: unknown): Promise<null> => {
    const headers = target.pageId === undefined ? {} : { [PAGE_HEADER]: target.pageId };
    return service.call({ ...callOf(target, name, body), headers });
  };
}

function callOf({ projectId, sessionId }: SessionTarget, name: string, body: unknown): ServiceCall<null> {
  return { method: 'POST', path: `${sessionPath(sessionId)}/computer/${name}`, projectId, body, schema: null };
}
