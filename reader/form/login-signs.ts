import { isProviderButton } from '../choices/sso.ts';
import type { ClickableFacts, FrameSnapshot } from '../facts.ts';
import { buttonWords } from './buttons.ts';
import { type Cluster, formNames, isNewByAttributesOnly } from './clusters.ts';
import {
  type ClassifiedControl,
  type ControlMeaning,
  classifyControl,
  controlWords,
  isCharacterList,
} from './control-meaning.ts';
import type { Submit } from './submit.ts';
import { asksOnlyForProvider } from './usable-controls.ts';
import { isSignOutControl } from '../signs/signed-in.ts';
import { readTotpSetup } from '../signs/totp-setup.ts';
import { identifierWords, normalize } from '../text/normalize.ts';
import { headingsOf } from '../text/page-text.ts';
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
interface Verdict {
  readonly isLogin: boolean;
  readonly reasons: readonly string[];
}

/** Signs for and against a login. */
interface Signs {
  readonly for: string[];
  readonly against: string[];
}

/** Decides whether a cluster asks to sign in. `top` is the page's main frame. */
export function judgeCluster(cluster: Cluster, submit: Submit | undefined, top: FrameSnapshot | undefined): Verdict {
  const no = (reason: string): Verdict => ({ isLogin: false, reasons: [reason] });
  const { controls } = cluster;
  const count = (...meanings: ControlMeaning[]): number =>
    controls.filter(({ meaning }) => meanings.includes(meaning)).length;
  if (count('card') > 0) return no('asks for a payment card');
  if (controls.some(({ control }) => control.tag === 'textarea')) return no('asks for a message');
  const passwords = controls.filter(({ meaning }) => meaning === 'password' || meaning === 'new_password');
  // Boxes and lists for single characters of a secret ask for one secret.
  const isCharacter = ({ control }: ClassifiedControl): boolean => control.maxLength === 1 || isCharacterList(control);
  const secrets = passwords.every(isCharacter) ? passwords.slice(0, 1) : passwords;
  const names = count('identifier');
  const signsOut = cluster.frame.facts.clickables.some((each) => each.visible && isSignOutControl(each));
  // For a signed-in visitor such a list is a filter.
  if (submit !== undefined && !signsOut && asksOnlyForProvider(cluster))
    return { isLogin: true, reasons: ['only an identity provider list'] };
  if (secrets.length === 0 && count('code') === 0 && names === 0) return no('asks for no credentials');
  // Its button and its address activate or save something, as those of other forms that are no login.
  if (secrets.length + names + count('profile') === 0 && readTotpSetup([cluster.frame]) !== null)
    return { isLogin: true, reasons: ['the first code of a new authenticator'] };
  if (secrets.length > 1 && secrets.some(isRepeatedPassword)) return no('a password is entered twice');
  if (secrets.length > 1 && secrets.some(isNewPassword)) return no('a new password is set');
  if (secrets.length > 2) return no('more than two passwords');

  // Strongest signs first; weaker ones only break a tie.
  for (const signs of [fieldSigns(cluster, submit, secrets), contextSigns(cluster, secrets), pageSigns(cluster, top)]) {
    const surplus = signs.for.length - signs.against.length;
    if (surplus < 0) return no(signs.against.join('; '));
    if (surplus > 0) return { isLogin: true, reasons: signs.for };
  }
  // A signed-in visitor enters an identifier to link a phone or set up a server.
  if (names > 0 && signsOut) return no('next to a sign-out control');
  if (secrets.length > 0) return { isLogin: true, reasons: ['a password, and no sign of a sign-up'] };
  if (count('code') > 0 && names + count('profile', 'other') <= 1)
    return { isLogin: true, reasons: ['a code, and no sign of another purpose'] };
  const [only, another] = controls;
  if (another === undefined && only?.control.autocomplete.split(' ').includes('username') === true)
    return { isLogin: true, reasons: ['only a user name, and no sign of another purpose'] };
  if (names > 0 && hasHiddenPassword(cluster))
    return { isLogin: true, reasons: ['a hidden password in the same form, for a later step'] };
  return no('no sign of a login');
}

/** Signs in the fields and the submit button. */
function fieldSigns(cluster: Cluster, submit: Submit | undefined, secrets: readonly ClassifiedControl[]): Signs {
  const signs: Signs = { for: [], against: [] };
  const pressed = submit === undefined ? '' : buttonWords(submit.button);
  const signsIn = (SIGN_IN.test(pressed) && !SETS_PASSWORD.test(pressed)) || SENDS_LINK.test(pressed);
  if (NEWSLETTER.test(pressed)) signs.against.push('button subscribes');
  else if (signsIn) signs.for.push(`button "${excerpt(pressed)}"`);
  else if (SIGN_UP.test(pressed)) signs.against.push(`button "${excerpt(pressed)}" signs up`);
  else if (SETS_PASSWORD.test(pressed) || OTHER_PURPOSE.test(pressed))
    signs.against.push(`button "${excerpt(pressed)}"`);
  if (onlyButtonSignsUp(cluster) && !signsIn) signs.against.push('the only button signs up');

  const fresh = secrets.find((each) => isNewPassword(each) && !isNewByAttributesOnly(each));
  if (fresh) signs.against.push(`a new password: ${fresh.why}`);
  const [profile, ...moreProfile] = cluster.controls.filter(({ meaning }) => meaning === 'profile');
  if (profile) signs.against.push(`asks for "${excerpt(controlWords(profile.control).said)}"`);
  if (moreProfile.length > 0) signs.against.push('asks for more personal data');
  const mails = cluster.controls.filter(
    ({ control, meaning }) => meaning === 'identifier' && EMAIL.test(controlWords(control).said),
  );
  if (mails.length > 1) signs.against.push('asks for the e-mail address twice');
  const others = cluster.controls.filter(({ meaning, control }) => meaning === 'other' && control.tag === 'input');
  const servers = cluster.controls.filter(({ control }) =>
    SERVER.test(`${controlWords(control).said} ${controlWords(control).named}`),
  );
  if (servers.length > 0 && others.length + servers.length > 1) signs.against.push('asks for a server');
  if (others.length > 3) signs.against.push('asks for several other things');
  const codes = cluster.controls.filter(({ meaning }) => meaning === 'code');
  const otherCode = codes.find(({ control }) => OTHER_PURPOSE.test(controlWords(control).said));
  if (otherCode) signs.against.push('the code is for something else');
  return signs;
}

/** Signs around the fields: heading, form attributes, checkboxes, links. */
function contextSigns(cluster: Cluster, secrets: readonly ClassifiedControl[]): Signs {
  const signs: Signs = { for: [], against: [] };
  const heading = normalize(cluster.heading);
  const named = formNames(cluster);
  if (SIGN_IN.test(heading)) signs.for.push(`heading "${excerpt(heading)}"`);
  else if (SIGN_UP.test(heading)) signs.against.push(`heading "${excerpt(heading)}"`);
  else if (
    SETS_PASSWORD.test(heading) ||
    OTHER_PURPOSE.test(heading) ||
    NEWSLETTER.test(heading) ||
    MESSAGE_FORM.test(heading)
  )
    signs.against.push(`heading "${excerpt(heading)}"`);
  else if (FORGOT.test(heading) && secrets.length === 0) signs.against.push(`heading "${excerpt(heading)}"`);
  if (SIGN_IN.test(named) && !SIGN_UP.test(named)) signs.for.push('the form is named as a login');
  else if (SIGN_UP.test(named) && !SIGN_IN.test(named)) signs.against.push('the form is named as a sign-up');
  else if (NEWSLETTER.test(named) || /(^| )(contact|comment|search|reset|recover|forgot)( |$)/.test(named))
    signs.against.push('the form is named as something else');
  if (secrets.length > 0) {
    const boxes = cluster.frame.facts.checkboxes.filter(({ order, visible }) => visible && isWithin(order, cluster));
    if (boxes.some(({ text, named: name }) => REMEMBER.test(normalize(text)) || /remember|keep|persist/i.test(name)))
      signs.for.push('next to "remember me"');
    if (boxes.some(({ text }) => TERMS.test(normalize(text)))) signs.against.push('terms to agree to');
    if (adjacentLinks(cluster).some(({ text }) => FORGOT.test(normalize(text))))
      signs.for.push('next to "forgot password"');
    if (secrets.some(isNewPassword)) signs.against.push('autocomplete of a new password');
  }
  return signs;
}

/** Signs in the page's title, headings and address. */
function pageSigns({ frame, controls }: Cluster, top: FrameSnapshot | undefined): Signs {
  const signs: Signs = { for: [], against: [] };
  const titles = normalize(`${frame.facts.title} | ${top?.facts.title ?? ''}`);
  const topics = normalize(headingsOf(frame.facts).join(' | '));
  const address = identifierWords(pathOf(frame.facts.url), top === undefined ? '' : pathOf(top.facts.url));
  const secret = controls.some(({ meaning }) => meaning !== 'identifier' && meaning !== 'other');
  if (SIGN_IN.test(titles)) signs.for.push('title');
  if (SIGN_UP.test(titles) || OTHER_PURPOSE.test(titles) || SETS_PASSWORD.test(titles)) signs.against.push('title');
  if (SIGN_IN.test(topics)) signs.for.push('a heading of the page');
  else if (SIGN_UP.test(topics) || SETS_PASSWORD.test(topics)) signs.against.push('a heading of the page');
  if (SIGN_IN.test(address) || SIGN_IN_ADDRESS.test(address)) signs.for.push('address');
  else if (SIGN_UP.test(address) || NOT_LOGIN_ADDRESS.test(address)) signs.against.push('address');
  if (controls.some(({ control }) => PASSWORD_RULES.test(controlWords(control).said)))
    signs.against.push('rules for a new password');
  if (!secret && FORGOT.test(titles)) signs.against.push('the page is about a forgotten password');
  return signs;
}

const SIGN_IN_ADDRESS = /(^| )(auth|sso|saml|identity|account|u|idp|mfa|otp|2fa|verify)( |$)/;
const NOT_LOGIN_ADDRESS =
  /(^| )(register|registration|join|activate|activation|invitation|reset|recover|forgot|checkout|pay|payment|settings|profile|contact|subscribe|newsletter|order|orders|welcome)( |$)/;
/** A button that sends a sign-in link or code. */
const SENDS_LINK =
  /magic link|(sign|log)[ -]?in (link|code)|login (link|code)|continue with e-?mail|email me a (link|code)/;
const SERVER = /(?<![a-z])(host|hostname|port|server|smtp|imap|proxy|database name)(?![a-z])/;
const PASSWORD_RULES =
  /at least \d|min(imum)?\.? \d|\d\+? characters|mindestens \d|au moins \d|al menos \d|almeno \d|не менее \d|\d文字以上|至少\d/;

function onlyButtonSignsUp({ frame, from, to, last, controls }: Cluster): boolean {
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

function hasHiddenPassword({ frame, controls }: Cluster): boolean {
  const form = controls[0]?.control.form ?? -1;
  const hidden = frame.facts.controls.filter((each) => !each.visible && form >= 0 && each.form === form);
  return hidden.some((each) => each.type === 'password' && classifyControl(each).meaning === 'password');
}

function isNewPassword({ meaning }: ClassifiedControl): boolean {
  return meaning === 'new_password';
}

/** True for a second field of the same password. */
function isRepeatedPassword({ control }: ClassifiedControl): boolean {
  const { said, named } = controlWords(control);
  const isNamedRepeat = /(^| )(confirm|confirmation|repeat|retype|again|verify)( |$)/.test(named);
  return REPEAT.test(said) || (isNamedRepeat && NEW_PASSWORD.test(`${said} ${named}`));
}

function isWithin(order: number, { from, to }: Cluster): boolean {
  return order > from && order < to;
}

/** Maximum distance of an adjacent link, in document order. */
const BESIDE = 60;

function adjacentLinks(cluster: Cluster): ClickableFacts[] {
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

function excerpt(words: string): string {
  return words.replaceAll(' |', '').slice(0, 40);
}
