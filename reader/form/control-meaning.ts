import type { ControlFacts } from '../facts.ts';
import { identifierWords, normalize } from '../text/normalize.ts';
import {
  CAPTCHA_FIELD,
  CODE,
  EMAIL,
  NAME,
  NEWSLETTER,
  NEW_PASSWORD,
  OTHER_CODE,
  PASSWORD,
  PERSON,
  PHONE,
  SEARCH,
  USER,
} from '../text/words.ts';

/** What a control is there for. `other` is a visible text field that no rule knows. */
export type ControlMeaning =
  | 'identifier'
  | 'password'
  | 'new_password'
  | 'code'
  | 'captcha'
  | 'search'
  | 'newsletter'
  | 'profile'
  | 'card'
  | 'other';

/** A control with its meaning. */
export interface ClassifiedControl {
  readonly control: ControlFacts;
  readonly meaning: ControlMeaning;
  /** Why it is taken for that, in a few words. */
  readonly why: string;
}

/** Words of a control, those a person reads first. */
interface ControlWords {
  readonly said: string;
  readonly named: string;
}

const TEXT_TYPES = new Set(['text', 'email', 'tel', 'number', 'url', 'password', 'search', '']);
const PROFILE =
  /^(given-name|family-name|name|honorific|nickname|organization|street|address|postal|country|bday|sex|cc-)/;

/** Judges a control alone: by what its author declared, by what a person reads beside it, and only then by its names. */
export function classifyControl(control: ControlFacts): Pick<ClassifiedControl, 'meaning' | 'why'> {
  const words = controlWords(control);
  const tokens = control.autocomplete.split(' ');
  const declared = tokens.find((token) => token in DECLARED || token.startsWith('cc-'));
  if (control.type === 'password') return passwordMeaning(control, words, tokens);
  if (control.tag === 'textarea' || control.tag === 'select') return { meaning: 'other', why: control.tag };
  if (!TEXT_TYPES.has(control.type)) return { meaning: 'other', why: `type ${control.type}` };
  if (declared !== undefined) {
    return { meaning: DECLARED[declared] ?? 'card', why: `autocomplete ${declared}` };
  }
  if (control.besidePicture && control.type !== 'email' && !isIdentifier(words.said)) {
    return { meaning: 'captcha', why: 'stands beside a picture with a code' };
  }
  if (CAPTCHA_FIELD.test(words.named)) return { meaning: 'captcha', why: `name "${shortly(words.named)}"` };
  const label = labelMeaning(control, words.said);
  if (label !== undefined) return { meaning: label, why: `label "${shortly(words.said)}"` };
  const named = nameMeaning(control, words, tokens);
  return named === undefined ? { meaning: 'other', why: 'text field' } : named;
}

const DECLARED: Readonly<Record<string, ControlMeaning>> = {
  'one-time-code': 'code',
  username: 'identifier',
  'current-password': 'password',
};

/** What the words beside a text field say, most telling first; undefined when they say nothing that is known. */
function labelMeaning(control: ControlFacts, said: string): ControlMeaning | undefined {
  if (said === '') return undefined;
  if (CARD.test(said)) return 'card';
  if (CAPTCHA_FIELD.test(said)) return 'captcha';
  if (OTHER_CODE.test(said)) return 'other';
  const who = EMAIL.test(said) || USER.test(said) || PHONE.test(said);
  if (ONE_TIME.test(said) || (CODE.test(said) && !who)) return 'code';
  if (NEWSLETTER.test(said)) return 'newsletter';
  if (EMAIL.test(said) || (who && !isProfile(said))) return 'identifier';
  if (SEARCH.test(said)) return 'search';
  if (isProfile(said)) return control.type === 'email' ? 'identifier' : 'profile';
  return undefined;
}

/** What type, `autocomplete`, name and id tell of a text field whose label says nothing. */
function nameMeaning(
  control: ControlFacts,
  { said, named }: ControlWords,
  tokens: readonly string[],
): Pick<ClassifiedControl, 'meaning' | 'why'> | undefined {
  const why = `name "${shortly(named)}"`;
  if (control.type === 'search') return { meaning: 'search', why: 'type search' };
  if (/(^| )(q|s|search|query|searchterm|keywords?)( |$)/.test(named)) return { meaning: 'search', why };
  if (CARD.test(named)) return { meaning: 'card', why };
  if (NEWSLETTER.test(named)) return { meaning: 'newsletter', why };
  if (tokens.includes('email') || tokens.some((token) => token.startsWith('tel'))) {
    return { meaning: 'identifier', why: `autocomplete ${control.autocomplete}` };
  }
  if (tokens.some((token) => PROFILE.test(token))) return { meaning: 'profile', why: 'autocomplete' };
  if (control.type === 'email' || control.type === 'tel') return { meaning: 'identifier', why: `type ${control.type}` };
  if (!OTHER_CODE.test(named) && isCodeByName(control, named)) return { meaning: 'code', why };
  // A password field whose text is shown at the moment is a text field.
  if (PASSWORD.test(named) && !EMAIL.test(said)) {
    return { meaning: NEW_PASSWORD.test(`${said} ${named}`) ? 'new_password' : 'password', why };
  }
  if (PASSWORD.test(said)) return { meaning: NEW_PASSWORD.test(said) ? 'new_password' : 'password', why: 'label' };
  if (isIdentifier(named)) return { meaning: 'identifier', why };
  return isProfile(named) ? { meaning: 'profile', why } : undefined;
}

function shortly(words: string): string {
  return words.replaceAll(' |', '').trim().slice(0, 40);
}

/** A list of places to sign in to (a domain, a realm, a tenant); languages, themes and time zones are no part of a login. */
export function isRealmList(control: ControlFacts): boolean {
  if (control.tag !== 'select' || control.options.length < 2) return false;
  // The second half of an address.
  if (control.options.every((option) => option.startsWith('@'))) return true;
  const { said, named } = controlWords(control);
  return WHERE.test(`${said} | ${named}`) && !APPEARANCE.test(`${said} | ${named}`);
}

/** A list of the devices of a person, one of which shows the code that is asked for beside it. */
export function isDeviceList(control: ControlFacts): boolean {
  // One that stands on its only entry asks nothing.
  if (control.tag !== 'select' || control.options.length < (control.filled ? 2 : 1)) return false;
  const { said, named } = controlWords(control);
  return BY_WHICH.test(`${said} | ${named}`) && !APPEARANCE.test(`${said} | ${named}`);
}

/** A list of languages, themes or time zones. */
export function isPreferenceList(control: ControlFacts): boolean {
  const { said, named } = controlWords(control);
  return APPEARANCE.test(`${said} | ${named}`);
}

/** What the control's words say of it, for rules that look closer. */
export function controlWords(control: ControlFacts): ControlWords {
  const said = [control.label, control.ariaLabel, control.placeholder, control.title];
  if (!control.label && !control.ariaLabel) said.push(control.nearText);
  return {
    said: normalize(said.join(' | ')),
    named: identifierWords(control.name, control.id, control.extra),
  };
}

function passwordMeaning(
  control: ControlFacts,
  { said, named }: ControlWords,
  tokens: readonly string[],
): Pick<ClassifiedControl, 'meaning' | 'why'> {
  const of = (meaning: ControlMeaning, why: string): Pick<ClassifiedControl, 'meaning' | 'why'> => ({ meaning, why });
  if (tokens.includes('one-time-code')) return of('code', 'autocomplete one-time-code');
  if (tokens.includes('cc-csc') || CARD.test(said) || CARD.test(named)) return of('card', 'security code of a card');
  if (tokens.includes('current-password')) return of('password', 'autocomplete current-password');
  if (ONE_TIME.test(said)) return of('code', `label "${shortly(said)}"`);
  if (NEW_PASSWORD.test(said)) return of('new_password', `label "${shortly(said)}"`);
  if (tokens.includes('new-password')) return of('new_password', 'autocomplete new-password');
  const saysPassword = PASSWORD.test(said);
  if (!saysPassword && NEW_PASSWORD.test(named)) return of('new_password', `name "${shortly(named)}"`);
  if (!saysPassword && ONE_TIME.test(named)) return of('code', `name "${shortly(named)}"`);
  // A passcode after the password of a gateway is one from a device.
  if (CODE.test(said) && !PASSWORD.test(said.replaceAll('passcode', ''))) return of('code', `label "${shortly(said)}"`);
  return of('password', control.label === '' ? 'type password' : `type password, label "${shortly(said)}"`);
}

const WHERE =
  /(?<![a-z])(domain|realm|tenant|mandant|organi[sz]ations?|company|directory|database|environment|auth(entication)? ?(source|method|type|server|provider|backend)|log ?in (to|on|type|method|source|domain)|sign ?in to|log on to|login provider|domane|verzeichnis|anmelden an|anmeldung an|domaine|societe|annuaire|dominio|empresa|azienda|domein|domena)(?![a-z])|домен|организация|ドメイン|会社|域|도메인/;
/** What shows or takes codes, as the authors of lists call it. */
const BY_WHICH =
  /(?<![a-z])(device|authenticator|(second|2nd|two[ -]?|2) ?(factor|step)|[2m]fa|otp|verification method|gerat|appareil|dispositivo|apparaat|urzadzenie|enhet|cihaz)(?![a-z])|устройств|デバイス|设备|設備|기기/;
const APPEARANCE = /lang|locale|theme|time ?zone|country|currency|sprache|langue|idioma/;

/** Words that only a code for one use has. */
export const ONE_TIME =
  /one[ -]?time|(?<![a-z])t?otp(?![a-z])|2fa|mfa|two[ -]?factor|authenticator|verification code|einmal|usage unique|un solo uso|monouso|bestatigungscode|code de verification|codigo de verificacion|codice di verifica|kod weryfikacyjny|dogrulama kodu|sms|ワンタイム|認証コード|одноразов|код подтверждения|动态|验证码|驗證碼|인증/;

/** The security code of a payment card, and what stands around it. */
const CARD =
  /(?<![a-z])(cvv2?|cvc2?|csc|cvn|card (number|security|verification|holder|no)|cardnumber|name on card|expiry|expiration|valid thru|mm ?\/ ?yy|prufziffer|kartennummer|numero de carte|numero de tarjeta|numero da carta|numero carta|code de securite de la carte)(?![a-z])|カード番号|卡号|номер карты/;

function isCodeByName(control: ControlFacts, named: string): boolean {
  if (CODE.test(named)) return true;
  const short = control.maxLength >= 4 && control.maxLength <= 8;
  return short && control.inputMode === 'numeric';
}

/** True for words that name a person to a site. */
function isIdentifier(words: string): boolean {
  return USER.test(words) || EMAIL.test(words) || PHONE.test(words);
}

function isProfile(words: string): boolean {
  return PERSON.test(words) || (NAME.test(words) && !isIdentifier(words));
}

const MIN_BOXES = 4;
/** Pixels of a box that does not say how many characters it takes. */
const MAX_BOX_WIDTH = 64;

/** Neighbouring boxes for one character each are one field. */
export function groupCodeBoxes(controls: readonly ClassifiedControl[]): ClassifiedControl[][] {
  const runs: ClassifiedControl[][] = [];
  for (const each of controls) {
    const run = runs.at(-1);
    const last = run?.at(-1);
    if (run && last && isBox(each.control) && isBox(last.control) && standBeside(last.control, each.control))
      run.push(each);
    else runs.push([each]);
  }
  return runs.flatMap((run) => {
    if (run.length < MIN_BOXES) return run.map((each) => [each]);
    return [
      run.map((each) => ({
        control: each.control,
        meaning: 'code' as const,
        why: 'a row of boxes for one character each',
      })),
    ];
  });
}

function isBox(control: ControlFacts): boolean {
  return control.tag === 'input' && (control.maxLength === 1 || control.box.width <= MAX_BOX_WIDTH);
}

function standBeside(left: ControlFacts, right: ControlFacts): boolean {
  if (left.form !== right.form) return false;
  // Without its styles, a row of boxes is broken into lines.
  if (left.maxLength === 1 && right.maxLength === 1) return true;
  return Math.abs(left.box.y - right.box.y) <= 8 && Math.abs(left.box.width - right.box.width) <= 8;
}
