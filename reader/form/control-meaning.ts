import { AUTHENTICATOR, MESSAGED } from '../choices/mfa-methods.ts';
import type { ControlFacts } from '../facts.ts';
import { anyOf, identifierWords, normalize } from '../text/normalize.ts';
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

/** What a control asks for. `other` is a text field that no rule recognizes. */
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

interface Classification {
  readonly meaning: ControlMeaning;
  /** The reason, in a few words. */
  readonly why: string;
}

/** A control with its meaning. */
export interface ClassifiedControl extends Classification {
  readonly control: ControlFacts;
}

/** Normalized words of a control: visible ones, and those of its attributes. */
interface ControlWords {
  readonly said: string;
  readonly named: string;
}

const TEXT_TYPES = new Set(['text', 'email', 'tel', 'number', 'url', 'password', 'search', '']);
const PROFILE =
  /^(given-name|family-name|name|honorific|nickname|organization|street|address|postal|country|bday|sex|cc-)/;

/** Classifies a control by itself: by its declared `autocomplete`, then its visible label, and only then its attribute names. */
export function classifyControl(control: ControlFacts): Classification {
  const words = controlWords(control);
  const tokens = control.autocomplete.split(' ');
  const declared = tokens.find((token) => token in DECLARED || token.startsWith('cc-'));
  if (control.type === 'password') return passwordMeaning(control, words, tokens);
  if (isCharacterList(control)) return { meaning: 'password', why: 'a list of characters' };
  if (control.tag === 'textarea' || control.tag === 'select') return { meaning: 'other', why: control.tag };
  if (!TEXT_TYPES.has(control.type)) return { meaning: 'other', why: `type ${control.type}` };
  if (declared !== undefined) return { meaning: DECLARED[declared] ?? 'card', why: `autocomplete ${declared}` };
  if (control.besidePicture && control.type !== 'email' && !isIdentifier(words.said)) {
    return { meaning: 'captcha', why: 'next to a captcha image' };
  }
  if (CAPTCHA_FIELD.test(words.named)) return { meaning: 'captcha', why: `name "${excerpt(words.named)}"` };
  const label = labelMeaning(control, words.said);
  if (label !== undefined) return { meaning: label, why: `label "${excerpt(words.said)}"` };
  const named = nameMeaning(control, words, tokens);
  return named === undefined ? { meaning: 'other', why: 'text field' } : named;
}

const DECLARED: Readonly<Record<string, ControlMeaning>> = {
  'one-time-code': 'code',
  username: 'identifier',
  'current-password': 'password',
};

/** The meaning by a text field's label, most specific first; undefined if no rule matches. */
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

/** The meaning by type, `autocomplete`, name and id, for a text field whose label says nothing. */
function nameMeaning(
  control: ControlFacts,
  { said, named }: ControlWords,
  tokens: readonly string[],
): Classification | undefined {
  const why = `name "${excerpt(named)}"`;
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
  // A password field whose value is revealed is a text field.
  if (PASSWORD.test(named) && !EMAIL.test(said)) {
    return { meaning: NEW_PASSWORD.test(`${said} ${named}`) ? 'new_password' : 'password', why };
  }
  if (PASSWORD.test(said)) return { meaning: NEW_PASSWORD.test(said) ? 'new_password' : 'password', why: 'label' };
  if (isIdentifier(named)) return { meaning: 'identifier', why };
  return isProfile(named) ? { meaning: 'profile', why } : undefined;
}

function excerpt(words: string): string {
  return words.replaceAll(' |', '').trim().slice(0, 40);
}

/** True for a list of domains, realms or tenants to sign in to. */
export function isRealmList(control: ControlFacts): boolean {
  if (control.tag !== 'select' || control.options.length < 2) return false;
  // The domain part of an e-mail address.
  if (control.options.every((option) => option.startsWith('@'))) return true;
  const { said, named } = controlWords(control);
  return REALM.test(`${said} | ${named}`) && !PREFERENCE.test(`${said} | ${named}`);
}

/** True for a list of countries with the dialing codes of their phone numbers. */
export function isDialingCodeList(control: ControlFacts): boolean {
  const coded = control.options.filter((option) => /(^|\D)\+\d{1,4}(\D|$)/.test(option));
  return control.tag === 'select' && control.options.length >= 2 && coded.length >= control.options.length / 2;
}

/** True for a list of the characters that one place of a secret may have. */
export function isCharacterList({ tag, options }: ControlFacts): boolean {
  const characters = options.filter((option) => option.trim().length === 1);
  return tag === 'select' && characters.length >= 10 && characters.length >= options.length - 1;
}

/** True for a list with nothing selected in the form of a password. */
export function isUnansweredList(control: ControlFacts, all: readonly ControlFacts[]): boolean {
  if (control.tag !== 'select' || control.filled || control.options.length < 2 || isPreferenceList(control))
    return false;
  return (
    control.form >= 0 && all.some((each) => each.form === control.form && each.visible && each.type === 'password')
  );
}

/** True for a list of the devices that may show or receive the requested code. */
export function isDeviceList(control: ControlFacts): boolean {
  // A list with its only entry selected asks nothing.
  if (control.tag !== 'select' || control.options.length < (control.filled ? 2 : 1)) return false;
  const { said, named } = controlWords(control);
  return DEVICE.test(`${said} | ${named}`) && !PREFERENCE.test(`${said} | ${named}`);
}

/** True for a list of languages, themes or time zones, which is no part of a login. */
export function isPreferenceList(control: ControlFacts): boolean {
  const { said, named } = controlWords(control);
  return PREFERENCE.test(`${said} | ${named}`);
}

/** The words of a control, normalized. */
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
): Classification {
  const of = (meaning: ControlMeaning, why: string): Classification => ({ meaning, why });
  if (tokens.includes('one-time-code')) return of('code', 'autocomplete one-time-code');
  if (tokens.includes('cc-csc') || CARD.test(said) || CARD.test(named)) return of('card', 'security code of a card');
  if (tokens.includes('current-password')) return of('password', 'autocomplete current-password');
  if (ONE_TIME.test(said)) return of('code', `label "${excerpt(said)}"`);
  if (NEW_PASSWORD.test(said)) return of('new_password', `label "${excerpt(said)}"`);
  if (tokens.includes('new-password')) return of('new_password', 'autocomplete new-password');
  const saysPassword = PASSWORD.test(said);
  if (!saysPassword && NEW_PASSWORD.test(named)) return of('new_password', `name "${excerpt(named)}"`);
  if (!saysPassword && ONE_TIME.test(named)) return of('code', `name "${excerpt(named)}"`);
  // A gateway's passcode, asked for after its password, comes from a device.
  if (CODE.test(said) && !PASSWORD.test(said.replaceAll('passcode', ''))) return of('code', `label "${excerpt(said)}"`);
  return of('password', control.label === '' ? 'type password' : `type password, label "${excerpt(said)}"`);
}

const REALM =
  /(?<![a-z])(domain|realm|tenant|mandant|organi[sz]ations?|company|directory|database|environment|auth(entication)? ?(source|method|type|server|provider|backend)|log ?in (to|on|type|method|source|domain)|sign ?in to|log on to|login provider|domane|verzeichnis|anmelden an|anmeldung an|domaine|societe|annuaire|dominio|empresa|azienda|domein|domena)(?![a-z])|домен|организация|ドメイン|会社|域|도메인/;
const DEVICE =
  /(?<![a-z])(device|authenticator|(second|2nd|two[ -]?|2) ?(factor|step)|[2m]fa|otp|verification method|gerat|appareil|dispositivo|apparaat|urzadzenie|enhet|cihaz)(?![a-z])|устройств|デバイス|设备|設備|기기/;
const PREFERENCE = /lang|locale|theme|time ?zone|country|currency|sprache|langue|idioma/;

/** Words of one-time codes only. */
export const ONE_TIME =
  /one[ -]?time|(?<![a-z])t?otp(?![a-z])|2fa|mfa|two[ -]?factor|authenticator|verification code|einmal|usage unique|un solo uso|monouso|bestatigungscode|code de verification|codigo de verificacion|codice di verifica|kod weryfikacyjny|dogrulama kodu|sms|ワンタイム|認証コード|одноразов|код подтверждения|动态|验证码|驗證碼|인증/;

/** Words of payment card fields. */
const CARD =
  /(?<![a-z])(cvv2?|cvc2?|csc|cvn|card (number|security|verification|holder|no)|cardnumber|name on card|expiry|expiration|valid thru|mm ?\/ ?yy|prufziffer|kartennummer|numero de carte|numero de tarjeta|numero da carta|numero carta|code de securite de la carte)(?![a-z])|カード番号|卡号|номер карты/;

function isCodeByName(control: ControlFacts, named: string): boolean {
  if (CODE.test(named)) return true;
  const short = control.maxLength >= 4 && control.maxLength <= 8;
  return short && control.inputMode === 'numeric';
}

function isIdentifier(words: string): boolean {
  return USER.test(words) || EMAIL.test(words) || PHONE.test(words);
}

function isProfile(words: string): boolean {
  return PERSON.test(words) || (NAME.test(words) && !isIdentifier(words));
}

const MIN_CODE_BOXES = 4;
/** Maximum width of a one-character box that has no `maxlength`, in pixels. */
const MAX_BOX_WIDTH = 64;

/** Groups adjacent one-character boxes, which are one field. */
export function groupBoxes(controls: readonly ClassifiedControl[]): ClassifiedControl[][] {
  const runs: ClassifiedControl[][] = [];
  for (const each of controls) {
    const run = runs.at(-1);
    const last = run?.at(-1);
    if (run && last && isCodeBox(each.control) && isCodeBox(last.control) && areAdjacent(last.control, each.control))
      run.push(each);
    else runs.push([each]);
  }
  return runs.flatMap((run) => (run.length < MIN_CODE_BOXES ? run.map((each) => [each]) : [run]));
}

/**
 * The meaning of a row of boxes on a page that says `around`: a one-time code, unless all that the page asks for is a PIN that the
 * person knows.
 */
export function meaningOfBoxes(boxes: readonly ClassifiedControl[], around: string): Classification {
  const isPin = boxes.every(
    ({ control }) => control.maxLength === 1 && !control.autocomplete.includes('one-time-code'),
  );
  return isPin &&
    KNOWN_PIN.test(around) &&
    ![ONE_TIME, MESSAGED, AUTHENTICATOR, NEW_CODE].some((each) => each.test(around))
    ? { meaning: 'password', why: 'a row of one-character boxes for a PIN' }
    : { meaning: 'code', why: 'a row of one-character boxes' };
}

const KNOWN_PIN = anyOf(
  'pin, pins, pin code, pincode, pin kod*, passcode, security number, geheimzahl, geheimnummer, code secret, code confidentiel, code personnel',
  'clave, codigo secreto, codice segreto, codice personale, codigo pessoal, пин, пин-код, 暗証番号, ピンコード, 비밀번호',
);
/** Words of a code that something shows or that was made just now. */
const NEW_CODE =
  /(?<![a-z])(resend|expires?|displayed|shown|generated?|token|card reader|chiptan|generator|verification|verify)(?![a-z])/;

function isCodeBox(control: ControlFacts): boolean {
  return control.tag === 'input' && (control.maxLength === 1 || control.box.width <= MAX_BOX_WIDTH);
}

function areAdjacent(left: ControlFacts, right: ControlFacts): boolean {
  if (left.form !== right.form) return false;
  // Without styles, a row of boxes wraps.
  if (left.maxLength === 1 && right.maxLength === 1) return true;
  return Math.abs(left.box.y - right.box.y) <= 8 && Math.abs(left.box.width - right.box.width) <= 8;
}
