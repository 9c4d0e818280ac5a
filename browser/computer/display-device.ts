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

/** Most that a window may have above its page (tabs, address bar, a bar of warnings), in pixels. */
const MAX_ABOVE = 250;
/** Most that it may have beside it. */
const MAX_BESIDE = 20;
const LOOK = `[innerWidth, innerHeight, devicePixelRatio * visualViewport.scale,
  document.visibilityState === 'visible', document.hasFocus()]`;
const Seen = z.tuple([z.number(), z.number(), z.number(), z.boolean(), z.boolean()]);

/** Where a page is on the display of its browser. */
interface PagePlace {
  /** Its top left corner. */
  corner: Point;
  /** Whether keys of the display reach it, and not, say, the address bar. */
  hasKeys: boolean;
}

/** Null when the page is not on the display pixel by pixel: zoomed, of an emulated size, or in a tab that is not shown. */
async function pageOffsetOnDisplay({ cdp }: Pick<Chromium, 'cdp'>, page: Page): Promise<PagePlace | null> {
  const [{ bounds }, answer] = await Promise.all([
    cdp.send('Browser.getWindowForTarget', { targetId: page.targetId }),
    evaluateInIsolatedWorld(cdp, page.sessionId, LOOK),
  ]);
  const seen = Seen.safeParse(answer);
  if (!seen.success) return null;
  const [innerWidth, innerHeight, scale, isVisible, hasKeys] = seen.data;
  const { left = NaN, top = NaN, width = NaN, height = NaN } = bounds;
  const [beside, above] = [width - innerWidth, height - innerHeight];
  const fits = beside >= 0 && beside <= MAX_BESIDE && above >= 0 && above <= MAX_ABOVE;
  if (!fits || scale !== 1 || !isVisible) return null;
  return { corner: { x: left + Math.floor(beside / 2), y: top + above }, hasKeys };
}

/** Numbers of buttons at an X server, those of the wheel's directions among them. */
const BUTTONS: Record<Button, number> = { left: 1, middle: 2, right: 3, back: 8, forward: 9 };
const WHEEL = { up: 4, down: 5 } as const;

/**
 * Input through the display of a browser with a window: the page gets it as it gets a person's. What the display cannot
 * carry goes through the browser's protocol, with the same effect: characters that its keyboard lacks, a wheel turned to the
 * side or by parts of a notch, a page that is not shown as it is (an emulated size), keys while the address bar has them.
 */
export function createDisplayDevice(session: Session, page: Page): InputDevice {
  const protocol = createCdpDevice(session, page);
  const place = findPlace(session, page);

  /** Runs commands that `write` makes, else the same by the protocol. */
  const through = async (needsKeys: boolean, write: Write, instead: () => Promise<void>): Promise<void> => {
    const found = await place;
    const commands = found === null || (needsKeys && !found.hasKeys) ? undefined : write(found.corner);
    if (found === null || commands === undefined) {
      await settleInput(session);
      await instead();
      return;
    }
    session.input.unsettled = page;
    await found.x.run(commands).catch(instead);
  };
  const key = (
    command: 'keydown' | 'keyup',
    definition: KeyDefinition,
    instead: () => Promise<void>,
  ): Promise<void> => {
    const keysym = keysymOf(definition.code);
    return through(true, () => (keysym === undefined ? undefined : `${command} ${keysym}`), instead);
  };

  return {
    // Some go by the display, others by the protocol.
    isOrdered: false,
    move: async (point, modifiers) => {
      await through(
        false,
        ({ x, y }) => `mousemove ${String(Math.round(x + point.x))} ${String(Math.round(y + point.y))}`,
        () => protocol.move(point, modifiers),
      );
      // Moves of one frame become one: a page sees each only when the next waits for it.
      await settleInput(session);
    },
    press: (button, clickCount, modifiers) =>
      through(
        false,
        // Two presses in one millisecond are one to the browser.
        () => `sleep 0.003\nmousedown ${String(BUTTONS[button])}`,
        () => protocol.press(button, clickCount, modifiers),
      ),
    release: (button, clickCount, modifiers) =>
      through(
        false,
        () => `mouseup ${String(BUTTONS[button])}`,
        () => protocol.release(button, clickCount, modifiers),
      ),
    wheel: (notches, modifiers) =>
      through(
        false,
        () => wheelCommands(notches),
        () => protocol.wheel(notches, modifiers),
      ),
    keyDown: (definition, modifiers) => key('keydown', definition, () => protocol.keyDown(definition, modifiers)),
    keyUp: (definition, modifiers) => key('keyup', definition, () => protocol.keyUp(definition, modifiers)),
    insertText: async (text) => {
      // Keys before it come first.
      await settleInput(session);
      await protocol.insertText(text);
    },
  };
}

type Corner = { x: number; y: number };
type Write = (corner: Corner) => string | undefined;

async function findPlace(
  session: Session,
  page: Page,
): Promise<{ x: XInput; corner: Corner; hasKeys: boolean } | null> {
  const { chromium, input, onEnd } = session;
  if (chromium.display === null) return null;
  input.display ??= openXInput(chromium.display).then(
    (opened) => {
      onEnd.add(() => {
        opened.close();
      });
      return opened;
    },
    // Without the program everything goes through the protocol.
    () => null,
  );
  const [x, place] = await Promise.all([input.display, pageOffsetOnDisplay(chromium, page).catch(() => null)]);
  return x === null || place === null ? null : { x, ...place };
}

/** Undefined for parts of a notch, and for turns to the side, which the display does not pass on. */
function wheelCommands({ x, y }: Corner): string | undefined {
  if (x !== 0 || !Number.isInteger(y)) return undefined;
  if (y === 0) return '';
  return `click --repeat ${String(Math.abs(y))} --delay 0 ${String(y < 0 ? WHEEL.up : WHEEL.down)}`;
}
