import type { Keyboard } from './keyboard.ts';
import type { Send } from './sender.ts';
import type { View } from './view.ts';

/** Delay before a touch counts as a press, in milliseconds: a second finger within it starts scrolling. */
const PRESS_AFTER_MS = 120;
/** … or as soon as it has moved this far, in screen pixels. */
const PRESS_AFTER_PX = 8;
/** Page pixels scrolled per wheel notch. */
const NOTCH_PX = 120;

interface Point {
  x: number;
  y: number;
}

/** Mouse and single touches press, hold and drag; two fingers and the wheel scroll. */
export function capturePointer(view: View, keyboard: Keyboard, send: Send): void {
  const { canvas } = view;
  const touches = new Map<number, Point>();
  let pressed: number | null = null;
  let pendingTouch: { id: number; at: Point; timer: ReturnType<typeof setTimeout> } | null = null;
  let isScrolling = false;

  const press = (id: number, { x, y }: Point): void => {
    pressed = id;
    send({ do: 'down', ...view.toPage(x, y) });
  };
  const pressPending = (): void => {
    if (pendingTouch === null) return;
    clearTimeout(pendingTouch.timer);
    const { id, at } = pendingTouch;
    pendingTouch = null;
    press(id, at);
  };
  const scroll = (at: Point, x: number, y: number): void => {
    const left = view.pan(x, y);
    const notches = Math.max(-20, Math.min(20, left.y / NOTCH_PX));
    if (notches !== 0) send({ do: 'wheel', ...view.toPage(at.x, at.y), notches });
  };

  canvas.addEventListener('pointerdown', (event) => {
    event.preventDefault();
    // Keep tracking drags that leave the canvas.
    canvas.setPointerCapture(event.pointerId);
    const at = { x: event.clientX, y: event.clientY };
    const isTouch = event.pointerType === 'touch';
    keyboard.focusAt(event.clientY - canvas.getBoundingClientRect().top, isTouch);
    if (!isTouch) {
      if (pressed === null && event.button === 0) press(event.pointerId, at);
      return;
    }
    touches.set(event.pointerId, at);
    if (pendingTouch !== null) {
      clearTimeout(pendingTouch.timer);
      pendingTouch = null;
      isScrolling = true;
    } else if (touches.size === 1) {
      const { pointerId: id } = event;
      pendingTouch = { id, at, timer: setTimeout(pressPending, PRESS_AFTER_MS) };
    }
  });
  canvas.addEventListener('pointermove', (event) => {
    const { pointerId: id } = event;
    const at = { x: event.clientX, y: event.clientY };
    const before = touches.get(id);
    if (before !== undefined) touches.set(id, at);
    if (pendingTouch?.id === id && Math.hypot(at.x - pendingTouch.at.x, at.y - pendingTouch.at.y) >= PRESS_AFTER_PX)
      pressPending();
    if (pressed === id) send({ do: 'move', ...view.toPage(at.x, at.y) });
    // Each of the two fingers contributes half of the distance.
    else if (isScrolling && before !== undefined) scroll(at, (before.x - at.x) / 2, (before.y - at.y) / 2);
  });
  const release = (event: PointerEvent): void => {
    const { pointerId: id } = event;
    touches.delete(id);
    if (touches.size === 0) isScrolling = false;
    if (pendingTouch?.id === id) pressPending();
    if (pressed !== id) return;
    pressed = null;
    send({ do: 'up', ...view.toPage(event.clientX, event.clientY) });
  };
  canvas.addEventListener('pointerup', release);
  canvas.addEventListener('pointercancel', release);
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
