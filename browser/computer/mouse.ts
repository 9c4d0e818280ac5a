import { setTimeout as sleep } from 'node:timers/promises';
import type { ClickMouse, DragMouse, MoveMouse, Scroll } from '../../contract/computer.ts';
import { MAX_HOLD_MS } from '../../contract/computer.ts';
import type { Session } from '../session/session.ts';
import { BUTTON_BITS } from './cdp-device.ts';
import type { Point } from './mouse-path.ts';
import { linearPath, moveDuration, smoothPath } from './mouse-path.ts';
import type { Button } from './device.ts';
import type { InputTarget } from './input.ts';
import { inputTarget } from './input.ts';
import { withHeldKeys } from './keyboard.ts';

/** Interval of moves along a smooth path, in milliseconds: about one frame. */
const FRAME_MS = 16;

/** Moves to a point and presses, releases or clicks there, `num_clicks` times (2 is a double click). */
export function clickMouse(session: Session, action: ClickMouse): Promise<void> {
  return withHeldKeys(session, action.hold_keys, async (modifiers) => {
    const target = inputTarget(session);
    await moveTo(session, target, action, modifiers);
    const down = action.click_type !== 'up';
    const up = action.click_type !== 'down';
    for (let count = 1; count <= action.num_clicks; count += 1) {
      if (down) await press(session, target, action.button, count, modifiers);
      if (up) await release(session, target, action.button, count, modifiers);
    }
  });
}

/** Moves the mouse directly, or along a human-like curve. */
export function moveMouse(session: Session, action: MoveMouse): Promise<void> {
  return withHeldKeys(session, action.hold_keys, async (modifiers) => {
    const target = inputTarget(session);
    if (!action.smooth) {
      await moveTo(session, target, action, modifiers);
      return;
    }
    const from = { x: session.input.x, y: session.input.y };
    await moveAlong(
      session,
      target,
      smoothPath(from, action),
      action.duration_ms ?? moveDuration(from, action),
      modifiers,
    );
  });
}

/** Scrolls at a point. */
export function scroll(session: Session, action: Scroll): Promise<void> {
  return withHeldKeys(session, action.hold_keys, async (modifiers) => {
    const target = inputTarget(session);
    await moveTo(session, target, action, modifiers);
    await target.device.wheel({ x: action.delta_x, y: action.delta_y }, modifiers);
  });
}

/** Presses at the first point, moves along the others and releases at the last. */
export function dragMouse(session: Session, action: DragMouse): Promise<void> {
  return withHeldKeys(session, action.hold_keys, async (modifiers) => {
    const target = inputTarget(session);
    const points = action.path.map(([x, y]) => ({ x, y }));
    const [start, ...rest] = points;
    if (start === undefined) return;
    await moveTo(session, target, start, modifiers);
    await press(session, target, action.button, 1, modifiers);
    try {
      if (action.delay > 0) await sleep(action.delay);
      let from = start;
      const total = points.reduce((sum, point, index) => sum + distance(points[index - 1] ?? point, point), 0);
      for (const to of rest) {
        if (action.smooth) {
          const share = total === 0 ? 1 / rest.length : distance(from, to) / total;
          const duration = action.duration_ms === undefined ? moveDuration(from, to) : action.duration_ms * share;
          await moveAlong(session, target, smoothPath(from, to), duration, modifiers);
        } else {
          for (const step of linearPath(from, to, action.steps_per_segment)) {
            await moveTo(session, target, step, modifiers);
            if (action.step_delay_ms > 0) await sleep(Math.min(action.step_delay_ms, MAX_HOLD_MS));
          }
        }
        from = to;
      }
    } finally {
      await release(session, target, action.button, 1, modifiers);
    }
  });
}

/** Moves along the points, evenly spread over the duration, catching up if the page is slow. */
async function moveAlong(
  session: Session,
  target: InputTarget,
  points: Point[],
  duration: number,
  modifiers: number,
): Promise<void> {
  const started = performance.now();
  // Skips points within the same frame, but never the last.
  const stride = Math.max(1, Math.ceil((points.length * FRAME_MS) / Math.max(duration, 1)));
  const kept =
    duration >= points.length * FRAME_MS
      ? points
      : points.filter((_, index) => (points.length - 1 - index) % stride === 0);
  for (const [index, point] of kept.entries()) {
    const due = started + (duration * (index + 1)) / kept.length;
    const wait = due - performance.now();
    if (wait > 1) await sleep(wait);
    await moveTo(session, target, point, modifiers);
  }
}

/** Moves directly to a point. */
export function moveTo(session: Session, { device }: InputTarget, point: Point, modifiers: number): Promise<void> {
  session.input.x = point.x;
  session.input.y = point.y;
  return device.move(point, modifiers);
}

/** Presses a button at the current position. */
export function press(
  session: Session,
  { device }: InputTarget,
  button: Button,
  clickCount: number,
  modifiers: number,
): Promise<void> {
  session.input.buttons |= BUTTON_BITS[button];
  return device.press(button, clickCount, modifiers);
}

/** Releases a button. */
export function release(
  session: Session,
  { device }: InputTarget,
  button: Button,
  clickCount: number,
  modifiers: number,
): Promise<void> {
  session.input.buttons &= ~BUTTON_BITS[button];
  return device.release(button, clickCount, modifiers);
}

function distance(from: Point, to: Point): number {
  return Math.hypot(to.x - from.x, to.y - from.y);
}
