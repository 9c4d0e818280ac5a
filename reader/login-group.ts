import { joinBoxes } from './code-boxes.ts';
import { asksWhere, meaningOf, wordsOf, type ControlMeaning, type MeantControl } from './control-meaning.ts';
import type { ClickableFacts, ControlFacts, FrameFacts, GroupFacts, TextFacts } from './facts.ts';
import { identifierWords, normalize } from './normalize.ts';
import { CONTINUE, FORGOT, NEW_PASSWORD, NEWSLETTER, SIGN_IN, SIGN_UP } from './words.ts';

/** The facts of one frame and the way to it: CSS selectors of frame elements, outermost first. */
export interface SeenFrame {
  readonly path: readonly string[];
  readonly facts: FrameFacts;
}

/** A part of the page that may be the login form. */
export interface LoginGroup {
  readonly frame: SeenFrame;
  readonly index: number;
  readonly group: GroupFacts;
  readonly controls: readonly MeantControl[];
  readonly score: number;
}

const ENOUGH = 3;
const MANY_FIELDS = 5;
const MANY_OTHERS = 3;

/** The group that is most likely the login form, or undefined when none is likely enough. */
export function chooseLoginGroup(frames: readonly SeenFrame[]): LoginGroup | undefined {
  const groups = frames.flatMap((frame) => groupsOf(frame)).filter((group) => group.score >= ENOUGH);
  return groups.reduce<LoginGroup | undefined>(
    (best, each) => (best && best.score >= each.score ? best : each),
    undefined,
  );
}

/** The controls of a frame that a visitor can fill in, honeypots left out. */
export function usableControls(facts: FrameFacts): ControlFacts[] {
  const shown = facts.controls.filter(isUsable);
  const clear = shown.filter((control) => control.ariaHidden === 'no');
  return clear.length > 0 ? clear : shown;
}

function isUsable(control: ControlFacts): boolean {
  if (!control.visible || control.ariaHidden === 'self' || control.readOnly) return false;
  if (control.tag === 'select') return asksWhere(control);
  // Code inputs are laid, see-through, over boxes that are only drawn.
  if (control.transparent) return control.autocomplete.includes('one-time-code') && control.box.width >= 20;
  // A field that no key can reach and that no person is told about is a trap.
  return !(control.tabIndex < 0 && control.autocomplete === 'off' && !control.label && !control.placeholder);
}

function groupsOf(frame: SeenFrame): LoginGroup[] {
  const byGroup = new Map<number, MeantControl[]>();
  for (const control of usableControls(frame.facts)) {
    if (control.region === 'consent') continue;
    const members = byGroup.get(control.group) ?? [];
    members.push({ control, meaning: meaningOf(control) });
    byGroup.set(control.group, members);
  }
  return Array.from(byGroup, ([index, members]) => {
    const group = frame.facts.groups[index];
    if (!group) return [];
    // A row of boxes is a code, although a box alone ("Digit 1 of 6") says nothing of one.
    const asks = asksToSignIn(frame.facts, index, group);
    const controls = inContext(joinBoxes(members).flat(), asks);
    return [{ frame, index, group, controls, score: score(frame.facts, index, group, controls) }];
  }).flat();
}

/** True for a page that wants a new password, given twice or beside the old one, and asks for no name: no sign-up either. */
export function asksNewPassword(facts: FrameFacts): boolean {
  const meanings = usableControls(facts).map(meaningOf);
  const passwords = meanings.filter((meaning) => meaning === 'password' || meaning === 'new_password');
  return passwords.length >= 2 && meanings.includes('new_password') && !meanings.includes('identifier');
}

/** What a control alone does not tell, those beside it do. */
function inContext(controls: readonly MeantControl[], asksToSignIn: boolean): MeantControl[] {
  const passwordAt = controls.findIndex((each) => each.meaning === 'password');
  const hasIdentifier = controls.some((each) => each.meaning === 'identifier');
  const nameless = controls.findLastIndex(
    (each, at) => each.meaning === 'other' && each.control.tag === 'input' && at < passwordAt,
  );
  const fresh = controls.filter((each) => each.meaning === 'new_password');
  const codes = controls.filter((each) => each.meaning === 'code');
  return controls.map((each, at) => {
    // A text field right before the password is the user name, whatever it is called.
    if (!hasIdentifier && at === nameless) return { ...each, meaning: 'identifier' };
    // "Confirm your password" alone asks for the old one again.
    if (
      passwordAt < 0 &&
      fresh.length === 1 &&
      each === fresh[0] &&
      controls.length <= 2 &&
      isOldPassword(each.control)
    ) {
      return { ...each, meaning: 'password' };
    }
    // Authors who want no password filled in call it new; where one signs in, it is not.
    if (passwordAt < 0 && fresh.length === 1 && each === fresh[0] && asksToSignIn && isCalledNewOnly(each.control))
      return { ...each, meaning: 'password' };
    // A recovery code beside the usual one is the way around it.
    if (codes.length > 1 && each !== codes[0] && RECOVERY.test(wordsOf(each.control).said))
      return { ...each, meaning: 'other' };
    return each;
  });
}

const RECOVERY = /recovery|backup|emergency|wiederherstellung|secours|respaldo/;

function isOldPassword(control: ControlFacts): boolean {
  return (
    !control.autocomplete.includes('new-password') &&
    !/(?<![a-z])(new|choose|create|neues|nouveau|nueva)(?![a-z])/.test(wordsOf(control).said)
  );
}

/** Nothing but its `autocomplete` says that the password is a new one. */
function isCalledNewOnly(control: ControlFacts): boolean {
  const { said, named } = wordsOf(control);
  return !NEW_PASSWORD.test(`${said} | ${named}`) && isOldPassword({ ...control, autocomplete: '' });
}

/** What the form and its buttons are called speaks of signing in, and not of signing up. */
function asksToSignIn(facts: FrameFacts, index: number, group: GroupFacts): boolean {
  const named = identifierWords(group.id, group.name, group.classes, group.action);
  const words = `${named} | ${normalize(`${group.heading} | ${group.label}`)} | ${buttonWords(facts, index)}`;
  return SIGN_IN.test(words) && !SIGN_UP.test(words);
}

function buttonWords(facts: FrameFacts, index: number): string {
  return normalize(
    facts.clickables
      .filter((each) => each.group === index && each.visible && isButton(each) && !FORGOT.test(normalize(each.text)))
      .map((each) => each.text)
      .join(' | '),
  );
}

function score(facts: FrameFacts, index: number, group: GroupFacts, controls: readonly MeantControl[]): number {
  const has = (meaning: ControlMeaning): boolean => controls.some((each) => each.meaning === meaning);
  const count = (meaning: ControlMeaning): number => controls.filter((each) => each.meaning === meaning).length;
  const named = identifierWords(group.id, group.name, group.classes, group.action);
  const said = normalize(`${group.heading} | ${group.label}`);
  const buttons = buttonWords(facts, index);
  let points = 0;

  if (has('password')) points += 5;
  if (has('code')) points += 5;
  if (has('identifier')) points += has('password') ? 3 : identifierAlone(facts, said, named, buttons);
  if (count('new_password') >= 1) points -= has('password') ? 3 : 1;
  if (count('new_password') >= 2 || count('password') >= 2) points -= 5;
  if (count('profile') >= 1) points -= 2 + count('profile');
  // Settings of a connection or of an account have a name and a password among much else.
  if (count('other') > MANY_OTHERS && !has('code')) points -= 2 * (count('other') - MANY_OTHERS);
  if (controls.length >= MANY_FIELDS && !has('code')) points -= 2;
  if (controls.some((each) => each.control.tag === 'textarea')) points -= 4;
  if (controls.every((each) => each.meaning === 'search' || each.meaning === 'newsletter')) points -= 10;

  if (SIGN_IN.test(named)) points += 2;
  if (SIGN_IN.test(said)) points += 1;
  if (SIGN_IN.test(buttons)) points += 2;
  if (SIGN_UP.test(named)) points -= 3;
  if (SIGN_UP.test(said) && !SIGN_IN.test(said)) points -= 3;
  if (SIGN_UP.test(buttons) && !SIGN_IN.test(buttons) && !CONTINUE.test(buttons)) points -= 3;
  if (NEWSLETTER.test(`${named} | ${said} | ${buttons}`)) points -= 4;
  if (FORGOT.test(said) && !has('password')) points -= 3;

  const region = controls[0]?.control.region;
  if (region === 'footer') points -= 3;
  if (region === 'dialog') points += 1;
  return points;
}

/** An identifier without a password is a login only where the page says so. */
function identifierAlone(facts: FrameFacts, said: string, named: string, buttons: string): number {
  const address = identifierWords(pathOf(facts.url));
  const title = normalize(facts.title);
  let points = 1;
  if (SIGN_IN.test(title) || SIGN_IN.test(address) || /(^| )(auth|sso|saml|identity|account|u)( |$)/.test(address))
    points += 2;
  if (SIGN_IN.test(said)) points += 1;
  if (SIGN_IN.test(buttons) || CONTINUE.test(buttons)) points += 1;
  if (SIGN_IN.test(headings(facts.texts))) points += 1;
  if (SIGN_IN.test(named)) points += 1;
  return points;
}

function headings(texts: readonly TextFacts[]): string {
  return normalize(
    texts
      .filter((text) => text.heading)
      .map((text) => text.text)
      .join(' | '),
  );
}

function pathOf(url: string): string {
  try {
    const { hostname, pathname } = new URL(url);
    return `${hostname.split('.')[0] ?? ''} ${pathname}`;
  } catch {
    return '';
  }
}

function isButton(clickable: ClickableFacts): boolean {
  return clickable.tag !== 'a' || clickable.role === 'button' || /btn|button/i.test(clickable.classes);
}
