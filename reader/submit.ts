import type { PageReading } from '../contract/reading.ts';
import type { ClickableFacts } from './facts.ts';
import type { LoginGroup, SeenFrame } from './login-group.ts';
import { identifierWords, normalize } from './normalize.ts';
import { otherWayOf } from './other-ways.ts';
import { isSsoButton } from './sso.ts';
import { ASIDE, CONTINUE, FORGOT, SIGN_IN, SIGN_UP } from './words.ts';

/** The control that sends the login form, or null when there is none (the form is then sent by Enter). */
export function readSubmit(group: LoginGroup): PageReading['submit'] {
  const inside = group.frame.facts.clickables.filter((each) => each.group === group.index && each.visible);
  const last = Math.max(...group.controls.map((each) => each.control.order));
  const best = bestOf(inside, last) ?? bestOf(nearby(group), last);
  return best ? { selector: best.selector, frame: [...group.frame.path] } : null;
}

/** The control that sends a choice that was marked by a radio button, or null. */
export function readChoiceSubmit(frames: readonly SeenFrame[]): PageReading['submit'] {
  for (const { path, facts } of frames) {
    const radio = facts.clickables.find((each) => each.type === 'radio' && each.visible);
    const button =
      radio &&
      bestOf(
        facts.clickables.filter((each) => each.visible && each.order > radio.order),
        radio.order,
      );
    if (button) return { selector: button.selector, frame: [...path] };
  }
  return null;
}

/** Buttons that stand right under the fields, outside of what the form's markup holds. */
function nearby(group: LoginGroup): ClickableFacts[] {
  const boxes = group.controls.map((each) => each.control.box);
  const bottom = Math.max(...boxes.map((box) => box.y + box.height));
  const left = Math.min(...boxes.map((box) => box.x));
  const right = Math.max(...boxes.map((box) => box.x + box.width));
  return group.frame.facts.clickables.filter(
    ({ box, visible }) =>
      visible && box.y >= bottom - 60 && box.y <= bottom + 320 && box.x + box.width > left - 40 && box.x < right + 160,
  );
}

function bestOf(candidates: readonly ClickableFacts[], last: number): ClickableFacts | undefined {
  let best: { button: ClickableFacts; points: number } | undefined;
  for (const button of candidates) {
    const points = rate(button, last);
    if (points >= 2 && (!best || points > best.points)) best = { button, points };
  }
  return best?.button;
}

function rate(button: ClickableFacts, lastField: number): number {
  if (button.type === 'radio' || button.type === 'reset' || button.role === 'tab' || button.role === 'option') return 0;
  if (isSsoButton(button)) return 0;
  const said = normalize(`${button.text} | ${button.ariaLabel}`);
  const named = identifierWords(button.id, button.name, button.classes, button.extra);
  const isLink = button.tag === 'a' && button.role !== 'button';
  const asks = SIGN_IN.test(said) || CONTINUE.test(said);
  let points = 0;

  if (button.type === 'submit' || button.type === 'image') points += 3;
  if (SIGN_IN.test(said)) points += button.text.length <= 20 ? 5 : 4;
  else if (CONTINUE.test(said)) points += 3;
  if (/(^| )(submit|login|log in|signin|sign in|logon|next|continue|primary|verify)( |$)/.test(named)) points += 2;
  if (button.order > lastField) points += 1;
  if (isLink) points -= /btn|button|submit/i.test(button.classes) || !leadsAway(button.href) ? 0 : 5;
  if (!isLink && !asks && button.type !== 'submit' && button.type !== 'image') points -= 1;

  if (ASIDE.test(said) && !asks) points -= 6;
  if (otherWayOf(button, true) !== undefined) points -= 6;
  if (FORGOT.test(said)) points -= 6;
  if (SIGN_UP.test(said) && !SIGN_IN.test(said)) points -= 6;
  if (/(^| )(toggle|show|eye|reveal|visibility|clear)( |$)/.test(named)) points -= 4;
  return points;
}

/** True for a link to another page; `#` and `javascript:` links are buttons. */
function leadsAway(href: string): boolean {
  return href !== '' && !href.startsWith('#') && !href.toLowerCase().startsWith('javascript:');
}
