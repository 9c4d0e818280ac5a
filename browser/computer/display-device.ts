import { z } from 'zod';
import type { Chromium } from '../chromium/launch.ts';
import type { Page } from '../chromium/pages.ts';
import type { Session } from '../session/session.ts';
import { createCdpDevice } from './cdp-device.ts';
import type { Point } from './mouse-path.ts';
import { evaluateInIsolatedWorld } from './isolated-world.ts';
import type { Button, InputDevice } from './device.ts';
import type { KeyDefinition } from './keys.ts';
import { settleInput } from './settle.ts';
import type { XInput } from './x-input.ts';
import { openXInput, keysymOf } from './x-input.ts';

/** Greatest height of a window above its page (tabs, address bar, infobar), in pixels. */
const MAX_ABOVE = 250;
/** Greatest width of a window beside its page, in pixels. */
const MAX_BESIDE = 20;
const GEOMETRY = `[innerWidth, innerHeight, devicePixelRatio * visualViewport.scale,
  document.visibilityState === 'visible', document.hasFocus()]`;
const Geometry = z.tuple([z.number(), z.number(), z.number(), z.boolean(), z.boolean()]);

/** Position of a page on its browser's display. */
interface PagePosition {
  /** Top left corner. */
  corner: Point;
  /** Whether the display's keys reach the page, and not, say, the address bar. */
  hasFocus: boolean;
}

/** Null if the page is not displayed 1:1: zoomed, of emulated size, or in a hidden tab. */
async function pageOffsetOnDisplay({ cdp }: Pick<Chromium, 'cdp'>, page: Page): Promise<PagePosition | null> {
  const [{ bounds }, answer] = await Promise.all([
    cdp.send('Browser.getWindowForTarget', { targetId: page.targetId }),
    evaluateInIsolatedWorld(cdp, page.sessionId, GEOMETRY),
  ]);
  const seen = Geometry.safeParse(answer);
  if (!seen.success) return null;
  const [innerWidth, innerHeight, scale, isVisible, hasFocus] = seen.data;
  const { left = NaN, top = NaN, width = NaN, height = NaN } = bounds;
  const [beside, above] = [width - innerWidth, height - innerHeight];
  const fits = beside >= 0 && beside <= MAX_BESIDE && above >= 0 && above <= MAX_ABOVE;
  if (!fits || scale !== 1 || !isVisible) return null;
  return { corner: { x: left + Math.floor(beside / 2), y: top + above }, hasFocus };
}

/** Button numbers of the X server, including those of the wheel. */
const BUTTONS: Record<Button, number> = { left: 1, middle: 2, right: 3, back: 8, forward: 9 };
const WHEEL = { up: 4, down: 5 } as const;

/**
 * Input through the display of a browser with a window, which reaches the page like a person's. Falls back to CDP for what the
 * display cannot do: characters missing on its keyboard, horizontal or fractional scrolling, pages not displayed 1:1, and keys
 * while the address bar has the focus.
 */
export function createDisplayDevice(session: Session, page: Page): InputDevice {
  const cdpDevice = createCdpDevice(session, page);
  const position = locatePage(session, page);

  /** Runs the commands from `write`, or else the fallback. */
  const send = async (needsFocus: boolean, write: Write, fallback: () => Promise<void>): Promise<void> => {
    const found = await position;
    const commands = found === null || (needsFocus && !found.hasFocus) ? undefined : write(found.corner);
    if (found === null || commands === undefined) {
      await settleInput(session);
      await fallback();
      return;
    }
    session.input.unsettled = page;
    await found.x.run(commands).catch(fallback);
  };
  const key = (
    command: 'keydown' | 'keyup',
    definition: KeyDefinition,
    fallback: () => Promise<void>,
  ): Promise<void> => {
    const keysym = keysymOf(definition.code);
    return send(true, () => (keysym === undefined ? undefined : `${command} ${keysym}`), fallback);
  };

  return {
    // Some events go through the display, others through CDP.
    isOrdered: false,
    move: async (point, modifiers) => {
      await send(
        false,
        ({ x, y }) => `mousemove ${String(Math.round(x + point.x))} ${String(Math.round(y + point.y))}`,
        () => cdpDevice.move(point, modifiers),
      );
      // The browser merges moves within a frame, so wait between them.
      await settleInput(session);
    },
    press: (button, clickCount, modifiers) =>
      send(
        false,
        // The browser ignores a second press within a millisecond.
        () => `sleep 0.003\nmousedown ${String(BUTTONS[button])}`,
        () => cdpDevice.press(button, clickCount, modifiers),
      ),
    release: (button, clickCount, modifiers) =>
      send(
        false,
        () => `mouseup ${String(BUTTONS[button])}`,
        () => cdpDevice.release(button, clickCount, modifiers),
      ),
    wheel: (notches, modifiers) =>
      send(
        false,
        () => wheelCommands(notches),
        () => cdpDevice.wheel(notches, modifiers),
      ),
    keyDown: (definition, modifiers) => key('keydown', definition, () => cdpDevice.keyDown(definition, modifiers)),
    keyUp: (definition, modifiers) => key('keyup', definition, () => cdpDevice.keyUp(definition, modifiers)),
    insertText: async (text) => {
      // Earlier keys first.
      await settleInput(session);
      await cdpDevice.insertText(text);
    },
  };
}

type Corner = { x: number; y: number };
type Write = (corner: Corner) => string | undefined;

async function locatePage(
  session: Session,
  page: Page,
): Promise<{ x: XInput; corner: Corner; hasFocus: boolean } | null> {
  const { chromium, input, onEnd } = session;
  if (chromium.display === null) return null;
  input.display ??= openXInput(chromium.display).then(
    (opened) => {
      onEnd.add(() => {
        opened.close();
      });
      return opened;
    },
    // Without xdotool everything goes through CDP.
    () => null,
  );
  const [x, place] = await Promise.all([input.display, pageOffsetOnDisplay(chromium, page).catch(() => null)]);
  return x === null || place === null ? null : { x, ...place };
}

/** Undefined for horizontal or fractional scrolling, which the display does not support. */
function wheelCommands({ x, y }: Corner): string | undefined {
  if (x !== 0 || !Number.isInteger(y)) return undefined;
  if (y === 0) return '';
  return `click --repeat ${String(Math.abs(y))} --delay 0 ${String(y < 0 ? WHEEL.up : WHEEL.down)}`;
}
