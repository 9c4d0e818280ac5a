import { setTimeout as sleep } from 'node:timers/promises';
import type { PressKey, TypeText } from '../../contract/computer.ts';
import { invalidField } from '../../contract/errors.ts';
import type { Session } from '../session/session.ts';
import type { InputDevice } from './device.ts';
import type { InputTarget } from './input.ts';
import { inputTarget, isStillActive } from './input.ts';
import type { KeyDefinition, TypedCharacter } from './keys.ts';
import { ENTER, keyOfCharacter, parseCombination, SHIFT, TAB } from './keys.ts';

/** Characters to type before checking the target again. */
const RECHECK_AFTER = 32;
/** Characters in flight: like a fast typist, not a whole text that could not be stopped. */
const MAX_IN_FLIGHT = 4;
/** Shift in CDP's modifier bit field. */
const SHIFT_BIT = 8;

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

/**
 * Types text into the focused element: characters of a US keyboard as key events, which pages may listen to, others inserted like
 * an input method. Line breaks press Enter, tabs press Tab. The text is never logged.
 */
export async function typeText(session: Session, { text, delay }: TypeText): Promise<void> {
  let target = inputTarget(session);
  let typedSinceCheck = 0;
  let inFlight: Promise<void>[] = [];
  const flush = async (): Promise<void> => {
    const pending = inFlight;
    inFlight = [];
    await Promise.all(pending);
  };
  for (const [index, { segment }] of [...graphemes.segment(text)].entries()) {
    if (index > 0 && delay > 0) await sleep(delay);
    // A dialog, another page or a change of focus may intervene; checking at every key would be too slow.
    if (delay > 0 || typedSinceCheck >= RECHECK_AFTER || !isStillActive(session, target.page)) {
      await flush();
      target = inputTarget(session);
      typedSinceCheck = 0;
    }
    const { device } = target;
    const character = isControl(segment) ? undefined : keyOfCharacter(segment);
    if (character !== undefined && delay === 0 && device.isOrdered) {
      inFlight.push(typeCharacter(device, character));
      if (inFlight.length === MAX_IN_FLIGHT) await flush();
    } else {
      await flush();
      await typeSegment(target, segment);
    }
    // Enter and Tab may move the focus.
    typedSinceCheck = isControl(segment) ? RECHECK_AFTER : typedSinceCheck + 1;
  }
  await flush();
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

/** Presses keys and combinations in order, or with `duration` all together for that long. Enter and Escape answer a dialog. */
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

/** Runs an action, given the modifier bits, while keys are held down, and always releases them. */
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
  // `!` and `A` alone imply Shift; in a combination the caller specifies all modifiers.
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
  const rule = 'contains an unknown key; use names such as Return, Tab, Ctrl, a';
  throw invalidField(field, rule, 'unknown_key');
}
