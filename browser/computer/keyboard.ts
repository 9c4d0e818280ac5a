import { setTimeout as sleep } from 'node:timers/promises';
import type { PressKey, TypeText } from '../../contract/computer.ts';
import { invalidField } from '../../contract/errors.ts';
import type { Session } from '../session/session.ts';
import type { InputDevice } from './device.ts';
import type { InputTarget } from './input.ts';
import { inputTarget, isStillActive } from './input.ts';
import type { KeyDefinition, TypedCharacter } from './keys.ts';
import { ENTER, keyOfCharacter, parseCombination, SHIFT, TAB } from './keys.ts';

/** Characters that are typed to where the first of them went. */
const LOOK_AGAIN_AFTER = 32;
/** Characters whose events are on their way at once: a fast typist's, not a whole text that nobody could stop. */
const FLIGHT = 4;
/** Shift among the modifiers of an event. */
const SHIFT_BIT = 8;

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

/**
 * Types text into whatever has the focus: characters of a US keyboard as key events, so that pages which watch keys see
 * them, all others inserted as an input method would. Line breaks press Enter, tabs press Tab. The text is never logged.
 */
export async function typeText(session: Session, { text, delay }: TypeText): Promise<void> {
  let target = inputTarget(session);
  let since = 0;
  let flight: Promise<void>[] = [];
  const land = async (): Promise<void> => {
    const landing = flight;
    flight = [];
    await Promise.all(landing);
  };
  for (const [index, { segment }] of [...graphemes.segment(text)].entries()) {
    if (index > 0 && delay > 0) await sleep(delay);
    // A dialog or another page may have come, or the focus may be elsewhere; looking at each key would take most of the time.
    if (delay > 0 || since >= LOOK_AGAIN_AFTER || !isStillActive(session, target.page)) {
      await land();
      target = inputTarget(session);
      since = 0;
    }
    const { device } = target;
    const character = isControl(segment) ? undefined : keyOfCharacter(segment);
    if (character !== undefined && delay === 0 && device.isOrdered) {
      flight.push(typeCharacter(device, character));
      if (flight.length === FLIGHT) await land();
    } else {
      await land();
      await typeSegment(target, segment);
    }
    // Enter and Tab take the focus elsewhere.
    since = isControl(segment) ? LOOK_AGAIN_AFTER : since + 1;
  }
  await land();
}

function isControl(segment: string): boolean {
  return /[\r\n\t]/.test(segment);
}

async function typeSegment(target: InputTarget, segment: string): Promise<void> {
  if (segment === '\n' || segment === '\r' || segment === '\r\n') return tap(target, ENTER, 0);
  if (segment === '\t') return tap(target, TAB, 0);
  const character = keyOfCharacter(segment);
  return character === undefined ? target.device.insertText(segment) : typeCharacter(target.device, character);
}

async function typeCharacter(device: InputDevice, { definition, shift }: TypedCharacter): Promise<void> {
  const modifiers = shift ? SHIFT_BIT : 0;
  const events = [
    ...(shift ? [() => device.keyDown(SHIFT, modifiers)] : []),
    () => device.keyDown(definition, modifiers),
    () => device.keyUp(definition, modifiers),
    ...(shift ? [() => device.keyUp(SHIFT, 0)] : []),
  ];
  if (device.isOrdered) await Promise.all(events.map((event) => event()));
  else for (const event of events) await event();
}

/**
 * Presses keys and combinations one after the other; with `duration` all of them together for that long. When a dialog
 * is open, Enter and Escape answer it, as they would on a screen.
 */
export async function pressKeys(session: Session, { keys, duration, hold_keys }: PressKey): Promise<void> {
  const combinations = keys.map((text, index) => readKeys(text, `keys[${String(index)}]`));
  await withHeldKeys(session, hold_keys, async (modifiers) => {
    if (duration > 0) {
      await pressTogether(inputTarget(session), combinations.flat(), modifiers, duration);
      return;
    }
    for (const combination of combinations) {
      if (await answerDialog(session, combination)) continue;
      await pressTogether(inputTarget(session), combination, modifiers, 0);
    }
  });
}

/**
 * Lets Enter and Space accept, and Escape dismiss, the dialog (alert, confirm, prompt, "leave page?") that blocks the active
 * page. False when no dialog is open or the keys mean nothing to it.
 */
async function answerDialog(session: Session, keys: TypedCharacter[]): Promise<boolean> {
  const page = session.chromium.pages.active();
  const key = keys.length === 1 ? keys[0]?.definition.key : undefined;
  if (page === undefined || page.dialog === null || key === undefined) return false;
  const accept = key === 'Enter' || key === ' ';
  if (!accept && key !== 'Escape') return false;
  await session.chromium.cdp.send('Page.handleJavaScriptDialog', { accept }, page.sessionId);
  return true;
}

/** Runs an action while keys are held down; they are let go when it fails, too. Gives it their modifier bits. */
export async function withHeldKeys(
  session: Session,
  names: string[] | undefined,
  action: (modifiers: number) => Promise<void>,
): Promise<void> {
  const held = (names ?? []).flatMap((name, index) => readKeys(name, `hold_keys[${String(index)}]`));
  if (held.length === 0) return action(0);
  const target = inputTarget(session);
  let modifiers = 0;
  for (const { definition } of held) {
    modifiers |= definition.modifier ?? 0;
    await target.device.keyDown(definition, modifiers);
  }
  try {
    await action(modifiers);
  } finally {
    for (const { definition } of held.reverse()) {
      modifiers &= ~(definition.modifier ?? 0);
      await target.device.keyUp(definition, modifiers);
    }
  }
}

async function pressTogether(
  target: InputTarget,
  keys: TypedCharacter[],
  heldModifiers: number,
  duration: number,
): Promise<void> {
  let modifiers = heldModifiers;
  // `!` and `A` stand for a key with Shift; inside a combination the modifiers are what the caller wrote.
  const withShift = keys.length === 1 && keys[0]?.shift === true && (modifiers & SHIFT_BIT) === 0;
  const sequence = withShift ? [{ definition: SHIFT, shift: false }, ...keys] : keys;
  for (const { definition } of sequence) {
    modifiers |= definition.modifier ?? 0;
    await target.device.keyDown(definition, modifiers);
  }
  if (duration > 0) await sleep(duration);
  for (const { definition } of [...sequence].reverse()) {
    modifiers &= ~(definition.modifier ?? 0) | heldModifiers;
    await target.device.keyUp(definition, modifiers);
  }
}

async function tap(target: InputTarget, definition: KeyDefinition, modifiers: number): Promise<void> {
  await target.device.keyDown(definition, modifiers);
  await target.device.keyUp(definition, modifiers);
}

function readKeys(text: string, field: string): TypedCharacter[] {
  const parsed = parseCombination(text);
  if ('keys' in parsed) return parsed.keys;
  const rule = 'one of its parts is not the name of a key; use names such as Return, Tab, Ctrl, a';
  throw invalidField(field, rule, 'unknown_key');
}
