import type { ViewerMessage } from '../messages.ts';
import type { FrameCanvas } from './frame-canvas.ts';
import { modifiersOf } from './keyboard.ts';
import type { ViewerUi } from './viewer-ui.ts';

type Send = (message: ViewerMessage) => void;

const BUTTONS = ['left', 'middle', 'right', 'back', 'forward'] as const;
/** A touch that moves less than this is a tap, in screen pixels. */
const TAP_SLACK_PX = 10;
/** Longest tap, in milliseconds; a longer touch opens the context menu. */
const MAX_TAP_MS = 600;
/** Pixels per unit of a wheel event, by its `deltaMode`: pixels, lines, pages. */
const WHEEL_UNIT_PX = [1, 40, 800];

/** Sends mouse input unchanged. Touch: a tap clicks, a long tap right-clicks, and moving a finger scrolls. */
export function capturePointer(ui: ViewerUi, frame: FrameCanvas, send: Send): void {
  captureMouse(ui, frame, send);
  captureTouch(ui, frame, send);
}

function captureMouse({ canvas, keyboard }: ViewerUi, frame: FrameCanvas, send: Send): void {
  let held = false;
  const button = (type: 'press' | 'release', event: MouseEvent): void => {
    const point = frame.toPage(event.clientX, event.clientY);
    const name = BUTTONS[event.button];
    if (point === null || name === undefined) return;
    const clicks = Math.min(Math.max(event.detail, 1), 3);
    send({ type, ...point, button: name, clicks, modifiers: modifiersOf(event) });
  };
  canvas.addEventListener('mousedown', (event) => {
    event.preventDefault();
    keyboard.focus({ preventScroll: true });
    held = true;
    button('press', event);
  });
  // A drag may leave the canvas, and ends wherever the button is released.
  addEventListener('mouseup', (event) => {
    if (!held) return;
    held = event.buttons !== 0;
    button('release', event);
  });
  let pending: MouseEvent | null = null;
  addEventListener('mousemove', (event) => {
    if (!held && event.target !== canvas) return;
    if (pending === null) requestAnimationFrame(flush);
    pending = event;
  });
  const flush = (): void => {
    const event = pending;
    pending = null;
    const point = event === null ? null : frame.toPage(event.clientX, event.clientY);
    if (event !== null && point !== null) send({ type: 'move', ...point, modifiers: modifiersOf(event) });
  };
  canvas.addEventListener(
    'wheel',
    (event) => {
      event.preventDefault();
      const point = frame.toPage(event.clientX, event.clientY);
      if (point === null) return;
      const unit = WHEEL_UNIT_PX[event.deltaMode] ?? 1;
      scroll(send, point, event.deltaX * unit, event.deltaY * unit, modifiersOf(event));
    },
    { passive: false },
  );
  canvas.addEventListener('contextmenu', (event) => event.preventDefault());
}

function captureTouch({ canvas, keyboard }: ViewerUi, frame: FrameCanvas, send: Send): void {
  let start: { x: number; y: number; at: number } | null = null;
  let last = { x: 0, y: 0 };
  let moved = false;
  canvas.addEventListener(
    'touchstart',
    (event) => {
      event.preventDefault();
      const touch = event.touches[0];
      if (touch === undefined || event.touches.length > 1) return;
      last = { x: touch.clientX, y: touch.clientY };
      start = { ...last, at: event.timeStamp };
      moved = false;
    },
    { passive: false },
  );
  canvas.addEventListener(
    'touchmove',
    (event) => {
      event.preventDefault();
      const touch = event.touches[0];
      if (touch === undefined || start === null) return;
      const [dx, dy] = [touch.clientX - last.x, touch.clientY - last.y];
      if (!moved && Math.hypot(touch.clientX - start.x, touch.clientY - start.y) < TAP_SLACK_PX) return;
      moved = true;
      last = { x: touch.clientX, y: touch.clientY };
      const point = frame.toPage(start.x, start.y);
      const scale = canvas.width / Math.max(1, canvas.clientWidth);
      if (point !== null) scroll(send, point, -dx * scale, -dy * scale, 0);
    },
    { passive: false },
  );
  canvas.addEventListener('touchend', (event) => {
    event.preventDefault();
    const from = start;
    start = null;
    const point = from === null ? null : frame.toPage(from.x, from.y);
    if (from === null || point === null || moved) return;
    const button = event.timeStamp - from.at > MAX_TAP_MS ? 'right' : 'left';
    for (const type of ['press', 'release'] as const) {
      send({ type, ...point, button, clicks: 1, modifiers: modifiersOf(event) });
    }
    keyboard.focus({ preventScroll: true });
  });
}

function scroll(send: Send, point: { x: number; y: number }, deltaX: number, deltaY: number, modifiers: number): void {
  const clamp = (value: number): number => Math.min(Math.max(value, -10_000), 10_000);
  send({ type: 'wheel', ...point, deltaX: clamp(deltaX), deltaY: clamp(deltaY), modifiers });
}
