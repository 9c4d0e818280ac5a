import { isProviderButton } from '../choices/sso.ts';
import type { ClickableFacts, FrameSnapshot } from '../facts.ts';
import { buttonWords } from './buttons.ts';
import { type Cluster, formNames, isNewByAttributesOnly } from './clusters.ts';
import { type ClassifiedControl, type ControlMeaning, controlWords } from './control-meaning.ts';
import type { Submit } from './submit.ts';
import { asksOnlyForProvider } from './usable-controls.ts';
import { isSignOutControl } from '../signs/signed-in.ts';
import { identifierWords, normalize } from '../text/normalize.ts';
import {
  EMAIL,
  FORGOT,
  MESSAGE_FORM,
  NEWSLETTER,
  NEW_PASSWORD,
  OTHER_PURPOSE,
  REMEMBER,
  REPEAT,
  SETS_PASSWORD,
  SIGN_IN,
  SIGN_UP,
  TERMS,
} from '../text/words.ts';

/** Whether a cluster asks to sign in, and why. */
export interface Verdict {
  readonly isLogin: boolean;
  readonly reasons: readonly string[];
}

/** Signs for and against a login, by how much they tell. */
interface Signs {
  readonly for: string[];
  readonly against: string[];
}

/** Judges one cluster by itself. `top`: the page's own frame. */
export function judge(cluster: Cluster, submit: Submit | undefined, top: FrameSnapshot | undefined): Verdict {
  const no = (reason: string): Verdict => ({ isLogin: false, reasons: [reason] });
  const { controls } = cluster;
  const count = (...meanings: ControlMeaning[]): number =>
    controls.filter(({ meaning }) => meanings.includes(meaning)).length;
  if (count('card') > 0) return no('asks for a payment card');
  if (controls.some(({ control }) => control.tag === 'textarea')) return no('asks for a message');
  const passwords = controls.filter(({ meaning }) => meaning === 'password' || meaning === 'new_password');
  // Single characters of a secret that is kept elsewhere: as many boxes as there are, they ask for one.
  const isCharacter = ({ control }: ClassifiedControl): boolean => control.maxLength === 1;
  const secrets = passwords.every(isCharacter) ? passwords.slice(0, 1) : passwords;
  const names = count('identifier');
  const signsOut = cluster.frame.facts.clickables.some((each) => each.visible && isSignOutControl(each));
  // Who is inside changes by such a list what is shown, and signs in nowhere.
  if (submit !== undefined && !signsOut && asksOnlyForProvider(cluster))
    return { isLogin: true, reasons: ['a list of places to sign in at, alone'] };
  if (secrets.length === 0 && count('code') === 0 && names === 0) return no('asks for nothing of a login');
  if (secrets.some((each) => isRepeated(each, secrets))) return no('a password is given twice');
  if (secrets.length > 1 && secrets.some((each) => isNewPassword(each))) return no('a new password is set');
  if (secrets.length > 2) return no('more than two passwords');

  const strong = strongSigns(cluster, submit, secrets);
  const middle = middleSigns(cluster, secrets);
  const weak = weakSigns(cluster, top);
  for (const signs of [strong, middle, weak]) {
    const surplus = signs.for.length - signs.against.length;
    if (surplus < 0) return no(signs.against.join('; '));
    if (surplus > 0) return { isLogin: true, reasons: signs.for };
  }
  // Who can sign out is inside: what still asks for a name there binds a phone, sets up a server.
  if (names > 0 && signsOut) return no('stands beside a control that signs out');
  // Nothing speaks against it: a secret beside a name, or alone, is asked from those who have one.
  if (secrets.length > 0) return { isLogin: true, reasons: ['a password, and nothing of a sign-up'] };
  if (count('code') > 0 && names + count('profile', 'other') <= 1)
    return { isLogin: true, reasons: ['a code, and nothing of another purpose'] };
  return no('nothing says that it signs in');
}

/** What the fields and the button themselves say. */
function strongSigns(cluster: Cluster, submit: Submit | undefined, secrets: readonly ClassifiedControl[]): Signs {
  const signs: Signs = { for: [], against: [] };
  const pressed = submit === undefined ? '' : buttonWords(submit.button);
  const signsIn = (SIGN_IN.test(pressed) && !SETS_PASSWORD.test(pressed)) || SENDS_LINK.test(pressed);
  if (NEWSLETTER.test(pressed)) signs.against.push('button subscribes');
  else if (signsIn) signs.for.push(`button "${shown(pressed)}"`);
  else if (SIGN_UP.test(pressed)) signs.against.push(`button "${shown(pressed)}" signs up`);
  else if (SETS_PASSWORD.test(pressed) || OTHER_PURPOSE.test(pressed)) signs.against.push(`button "${shown(pressed)}"`);
  if (standsBySignUpButton(cluster) && !signsIn) signs.against.push('the only button signs up');

  const fresh = secrets.find((each) => isNewPassword(each) && !isNewByAttributesOnly(each));
  if (fresh) signs.against.push(`a new password: ${fresh.why}`);
  const profile = cluster.controls.filter(({ meaning }) => meaning === 'profile');
  if (profile.length > 0)
    signs.against.push(
      `asks for "${shown(controlWords((profile[0] ?? cluster.controls[0])?.control ?? failEmpty()).said)}"`,
    );
  if (profile.length > 1) signs.against.push('asks for more about the person');
  const mails = cluster.controls.filter(
    ({ control, meaning }) => meaning === 'identifier' && EMAIL.test(controlWords(control).said),
  );
  if (mails.length > 1) signs.against.push('asks for the address twice');
  const others = cluster.controls.filter(({ meaning, control }) => meaning === 'other' && control.tag === 'input');
  const servers = cluster.controls.filter(({ control }) =>
    SERVER.test(`${controlWords(control).said} ${controlWords(control).named}`),
  );
  if (servers.length > 0 && others.length + servers.length > 1) signs.against.push('asks for a server');
  if (others.length > 3) signs.against.push('asks for much else');
  const codes = cluster.controls.filter(({ meaning }) => meaning === 'code');
  const otherCode = codes.find(({ control }) => OTHER_PURPOSE.test(controlWords(control).said));
  if (otherCode) signs.against.push('the code is for something else');
  return signs;
}

/** What stands around: heading, form, boxes to tick, links beside the fields. */
function middleSigns(cluster: Cluster, secrets: readonly ClassifiedControl[]): Signs {
  const signs: Signs = { for: [], against: [] };
  const heading = normalize(cluster.heading);
  const named = formNames(cluster);
  if (SIGN_IN.test(heading)) signs.for.push(`heading "${shown(heading)}"`);
  else if (SIGN_UP.test(heading)) signs.against.push(`heading "${shown(heading)}"`);
  else if (
    SETS_PASSWORD.test(heading) ||
    OTHER_PURPOSE.test(heading) ||
    NEWSLETTER.test(heading) ||
    MESSAGE_FORM.test(heading)
  )
    signs.against.push(`heading "${shown(heading)}"`);
  else if (FORGOT.test(heading) && secrets.length === 0) signs.against.push(`heading "${shown(heading)}"`);
  if (SIGN_IN.test(named) && !SIGN_UP.test(named)) signs.for.push('the form is called a login');
  else if (SIGN_UP.test(named) && !SIGN_IN.test(named)) signs.against.push('the form is called a sign-up');
  else if (NEWSLETTER.test(named) || /(^| )(contact|comment|search|reset|recover|forgot)( |$)/.test(named))
    signs.against.push('the form is called something else');
  if (secrets.length > 0) {
    const boxes = cluster.frame.facts.checkboxes.filter(({ order, visible }) => visible && isWithin(order, cluster));
    if (boxes.some(({ text, named: name }) => REMEMBER.test(normalize(text)) || /remember|keep|persist/i.test(name)))
      signs.for.push('"remember me" beside it');
    if (boxes.some(({ text }) => TERMS.test(normalize(text)))) signs.against.push('terms to agree to');
    if (linksBeside(cluster).some(({ text }) => FORGOT.test(normalize(text))))
      signs.for.push('"forgot password" beside it');
    if (secrets.some((each) => isNewPassword(each))) signs.against.push('autocomplete of a new password');
  }
  return signs;
}

/** What the page says of itself. */
function weakSigns({ frame, controls }: Cluster, top: FrameSnapshot | undefined): Signs {
  const signs: Signs = { for: [], against: [] };
  const titles = normalize(`${frame.facts.title} | ${top?.facts.title ?? ''}`);
  const topics = normalize(
    frame.facts.texts
      .filter(({ heading, within }) => heading && within === 'none')
      .map(({ text }) => text)
      .join(' | '),
  );
  const address = identifierWords(pathOf(frame.facts.url), top === undefined ? '' : pathOf(top.facts.url));
  const secret = controls.some(({ meaning }) => meaning !== 'identifier' && meaning !== 'other');
  if (SIGN_IN.test(titles)) signs.for.push('title');
  if (SIGN_UP.test(titles) || OTHER_PURPOSE.test(titles) || SETS_PASSWORD.test(titles)) signs.against.push('title');
  if (SIGN_IN.test(topics)) signs.for.push('a heading of the page');
  else if (SIGN_UP.test(topics) || SETS_PASSWORD.test(topics)) signs.against.push('a heading of the page');
  if (SIGN_IN.test(address) || SIGN_IN_ADDRESS.test(address)) signs.for.push('address');
  else if (SIGN_UP.test(address) || NOT_LOGIN_ADDRESS.test(address)) signs.against.push('address');
  if (controls.some(({ control }) => RULES.test(controlWords(control).said)))
    signs.against.push('rules for a new password');
  if (!secret && FORGOT.test(titles)) signs.against.push('the page is about a forgotten password');
  return signs;
}

const SIGN_IN_ADDRESS = /(^| )(auth|sso|saml|identity|account|u|idp|mfa|otp|2fa|verify)( |$)/;
const NOT_LOGIN_ADDRESS =
  /(^| )(register|registration|join|activate|activation|invitation|reset|recover|forgot|checkout|pay|payment|settings|profile|contact|subscribe|newsletter|order|orders|welcome)( |$)/;
/** A button whose press signs in by a link or a code that is sent. */
const SENDS_LINK =
  /magic link|(sign|log)[ -]?in (link|code)|login (link|code)|continue with e-?mail|email me a (link|code)/;
const SERVER = /(?<![a-z])(host|hostname|port|server|smtp|imap|proxy|database name)(?![a-z])/;
const RULES =
  /at least \d|min(imum)?\.? \d|\d\+? characters|mindestens \d|au moins \d|al menos \d|almeno \d|не менее \d|\d文字以上|至少\d/;

function standsBySignUpButton({ frame, from, to, last, controls }: Cluster): boolean {
  const form = controls[0]?.control.form ?? -1;
  const buttons = frame.facts.clickables.filter(
    (each) =>
      each.visible &&
      each.type === 'submit' &&
      each.order > Math.max(from, last) &&
      each.order < to &&
      each.form === form,
  );
  const [only] = buttons;
  return (
    buttons.length === 1 && only !== undefined && SIGN_UP.test(buttonWords(only)) && !SIGN_IN.test(buttonWords(only))
  );
}

function isNewPassword({ meaning }: ClassifiedControl): boolean {
  return meaning === 'new_password';
}

/** A second field for the same password. */
function isRepeated({ control }: ClassifiedControl, secrets: readonly ClassifiedControl[]): boolean {
  const { said, named } = controlWords(control);
  if (secrets.length > 1 && REPEAT.test(said)) return true;
  return (
    secrets.length > 1 &&
    /(^| )(confirm|confirmation|repeat|retype|again|verify)( |$)/.test(named) &&
    NEW_PASSWORD.test(`${said} ${named}`)
  );
}

function isWithin(order: number, { from, to }: Cluster): boolean {
  return order > from && order < to;
}

/** Elements of the page's order within which a link stands beside a cluster. */
const BESIDE = 60;

function linksBeside(cluster: Cluster): ClickableFacts[] {
  return cluster.frame.facts.clickables.filter(
    (each) =>
      each.visible &&
      isWithin(each.order, cluster) &&
      each.order > cluster.first - BESIDE &&
      each.order < cluster.last + BESIDE &&
      !isProviderButton(each),
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

function shown(words: string): string {
  return words.replaceAll(' |', '').slice(0, 40);
}

function failEmpty(): never {
  throw new Error('A cluster holds at least one field');
}
