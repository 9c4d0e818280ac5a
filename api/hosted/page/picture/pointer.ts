import type { Keyboard } from './keyboard.ts';
import type { Send } from './sender.ts';
import type { View } from './view.ts';

/** A finger presses after this time, in milliseconds: a second one that comes before makes it a scroll. */
const PRESS_AFTER_MS = 120;
/** Or as soon as it has moved so far, in pixels of the screen. */
const PRESS_AFTER_PX = 8;
/** Pixels of the page that one notch of a wheel scrolls. */
const NOTCH_PX = 120;

interface Point {
  x: number;
  y: number;
}

/** Mouse and one finger press, hold and drag as on the page itself; two fingers, and the wheel, scroll. */
export function capturePointer(view: View, keyboard: Keyboard, send: Send): void {
  const { canvas } = view;
  const touches = new Map<number, Point>();
  let pressed: number | null = null;
  let waiting: { id: number; at: Point; timer: ReturnType<typeof setTimeout> } | null = null;
  let scrolls = false;

  const press = (id: number, { x, y }: Point): void => {
    pressed = id;
    send({ do: 'down', ...view.toPage(x, y) });
  };
  const pressWaiting = (): void => {
    if (waiting === null) return;
    clearTimeout(waiting.timer);
    const { id, at } = waiting;
    waiting = null;
    press(id, at);
  };
  const scroll = (at: Point, x: number, y: number): void => {
    const left = view.pan(x, y);
    const notches = Math.max(-20, Math.min(20, left.y / NOTCH_PX));
    if (notches !== 0) send({ do: 'wheel', ...view.toPage(at.x, at.y), notches });
  };

  canvas.addEventListener('pointerdown', (event) => {
    event.preventDefault();
    // A drag that leaves the picture goes on.
    canvas.setPointerCapture(event.pointerId);
    const at = { x: event.clientX, y: event.clientY };
    const isTouch = event.pointerType === 'touch';
    keyboard.take(event.clientY - canvas.getBoundingClientRect().top, isTouch);
    if (!isTouch) {
      if (pressed === null && event.button === 0) press(event.pointerId, at);
      return;
    }
    touches.set(event.pointerId, at);
    if (waiting !== null) {
      clearTimeout(waiting.timer);
      waiting = null;
      scrolls = true;
    } else if (touches.size === 1) {
      const { pointerId: id } = event;
      waiting = { id, at, timer: setTimeout(pressWaiting, PRESS_AFTER_MS) };
    }
  });
  canvas.addEventListener('pointermove', (event) => {
    const { pointerId: id } = event;
    const at = { x: event.clientX, y: event.clientY };
    const before = touches.get(id);
    if (before !== undefined) touches.set(id, at);
    if (waiting?.id === id && Math.hypot(at.x - waiting.at.x, at.y - waiting.at.y) >= PRESS_AFTER_PX) pressWaiting();
    if (pressed === id) send({ do: 'move', ...view.toPage(at.x, at.y) });
    // Each of two fingers tells its half of the way.
    else if (scrolls && before !== undefined) scroll(at, (before.x - at.x) / 2, (before.y - at.y) / 2);
  });
  const letGo = (event: PointerEvent): void => {
    const { pointerId: id } = event;
    touches.delete(id);
    if (touches.size === 0) scrolls = false;
    if (waiting?.id === id) pressWaiting();
    if (pressed !== id) return;
    pressed = null;
    send({ do: 'up', ...view.toPage(event.clientX, event.clientY) });
  };
  canvas.addEventListener('pointerup', letGo);
  canvas.addEventListener('pointercancel', letGo);
  canvas.addEventListener('contextmenu', (event) => event.preventDefault());
  canvas.addEventListener(
    'wheel',
    (event) => {
      event.preventDefault();
      if (event.deltaY !== 0)
        send({ do: 'wheel', ...view.toPage(event.clientX, event.clientY), notches: Math.sign(event.deltaY) });
    },
    { passive: false },
  );
}
