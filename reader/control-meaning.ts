import type { ControlFacts } from './facts.ts';
import { identifierWords, normalize } from './normalize.ts';
import {
  CAPTCHA_FIELD,
  CODE,
  EMAIL,
  NEW_PASSWORD,
  NEWSLETTER,
  OTHER_CODE,
  PASSWORD,
  PHONE,
  SEARCH,
  USER,
} from './words.ts';

/** What a control is there for. `other` is a visible text field that no rule knows. */
export type ControlMeaning =
  'identifier' | 'password' | 'new_password' | 'code' | 'captcha' | 'search' | 'newsletter' | 'profile' | 'other';

/** A control with its meaning. */
export interface MeantControl {
  readonly control: ControlFacts;
  readonly meaning: ControlMeaning;
}

/** Words of a control, those a person reads first. */
interface ControlWords {
  readonly said: string;
  readonly named: string;
}

const TEXT_TYPES = new Set(['text', 'email', 'tel', 'number', 'url', 'password', 'search', '']);
const PROFILE =
  /^(given-name|family-name|name|honorific|nickname|organization|street|address|postal|country|bday|sex|cc-)/;

/** Judges a control by what its author declared, then by what it is called. */
export function meaningOf(control: ControlFacts): ControlMeaning {
  const words = wordsOf(control);
  const tokens = control.autocomplete.split(' ');
  if (tokens.includes('one-time-code')) return 'code';
  if (control.type === 'password') return passwordMeaning(words, tokens);
  if (control.tag === 'textarea' || control.tag === 'select') return 'other';
  if (!TEXT_TYPES.has(control.type)) return 'other';
  if (tokens.includes('username') || tokens.includes('current-password')) {
    return tokens.includes('username') ? 'identifier' : 'password';
  }
  if (control.type === 'search' || isSearch(words)) return 'search';
  if (CAPTCHA_FIELD.test(words.said) || CAPTCHA_FIELD.test(words.named)) return 'captcha';
  if (isCode(control, words)) return 'code';
  if (NEWSLETTER.test(words.named) || NEWSLETTER.test(words.said)) return 'newsletter';
  if (tokens.includes('email') || tokens.some((token) => token.startsWith('tel'))) return 'identifier';
  if (tokens.some((token) => PROFILE.test(token))) return 'profile';
  if (control.type === 'email' || control.type === 'tel') return 'identifier';
  // A password field whose text is shown at the moment is a text field.
  if (PASSWORD.test(words.named) && !USER.test(words.said) && !EMAIL.test(words.said)) {
    return NEW_PASSWORD.test(`${words.said} ${words.named}`) ? 'new_password' : 'password';
  }
  if (isIdentifier(words.said)) return 'identifier';
  if (isIdentifier(words.named) && !isProfile(words.said)) return 'identifier';
  if (isProfile(words.said) || isProfile(words.named)) return 'profile';
  return 'other';
}

/** A list of places to sign in to (a domain, a realm, a tenant); languages, themes and time zones are no part of a login. */
export function asksWhere(control: ControlFacts): boolean {
  if (control.tag !== 'select' || control.options.length < 2) return false;
  const { said, named } = wordsOf(control);
  return WHERE.test(`${said} | ${named}`) && !APPEARANCE.test(`${said} | ${named}`);
}

/** What the control's words say of it, for rules that look closer. */
export function wordsOf(control: ControlFacts): ControlWords {
  const said = [control.label, control.ariaLabel, control.placeholder, control.title];
  if (!control.label && !control.ariaLabel) said.push(control.nearText);
  return {
    said: normalize(said.join(' | ')),
    named: identifierWords(control.name, control.id, control.extra),
  };
}

function passwordMeaning(words: ControlWords, tokens: readonly string[]): ControlMeaning {
  if (tokens.includes('current-password')) return 'password';
  if (tokens.includes('new-password')) return 'new_password';
  const both = `${words.said} | ${words.named}`;
  if (NEW_PASSWORD.test(both)) return 'new_password';
  const codeSaid = CODE.test(words.said) && !PASSWORD.test(words.said.replaceAll('passcode', ''));
  if (codeSaid || (ONE_TIME.test(both) && !/(?<![a-z])(passwd|pwd)(?![a-z])/.test(words.named))) return 'code';
  return 'password';
}

const WHERE =
  /(?<![a-z])(domain|realm|tenant|mandant|organi[sz]ations?|company|directory|database|environment|auth(entication)? ?(source|method|type|server|provider|backend)|log ?in (to|on|type|method|source|domain)|sign ?in to|log on to|login provider|domane|verzeichnis|anmelden an|anmeldung an|domaine|societe|annuaire|dominio|empresa|azienda|domein|domena)(?![a-z])|домен|организация|ドメイン|会社|域|도메인/;
const APPEARANCE = /lang|locale|theme|time ?zone|country|currency|sprache|langue|idioma/;

const ONE_TIME = /one[ -]?time|(?<![a-z])t?otp(?![a-z])|2fa|mfa|einmal|ワンタイム|одноразов|动态/;

function isSearch(words: ControlWords): boolean {
  return SEARCH.test(words.said) || /(^| )(q|s|search|query|searchterm|keywords?)( |$)/.test(words.named);
}

function isCode(control: ControlFacts, words: ControlWords): boolean {
  if (OTHER_CODE.test(words.said) || OTHER_CODE.test(words.named)) return false;
  if (CODE.test(words.said))
    return !/user|login|email|e-mail|account|client/.test(words.said.replaceAll('login code', ''));
  if (isIdentifier(words.said)) return false;
  if (CODE.test(words.named)) return true;
  const short = control.maxLength >= 4 && control.maxLength <= 8;
  return short && control.inputMode === 'numeric';
}

function isIdentifier(words: string): boolean {
  return USER.test(words) || EMAIL.test(words) || PHONE.test(words);
}

const PROFILE_WORDS =
  /(?<![a-z])(first|last|full|given|family|company|display|middle|sur) ?names?(?![a-z])|(?<![a-z])(vorname|nachname|prenom|apellidos?|cognome|company|organi[sz]ation|firma|message|subject|comment|address|city|birth\w*)(?![a-z])|фамилия|名字|姓名|氏名|お名前|이름/;

function isProfile(words: string): boolean {
  return PROFILE_WORDS.test(words);
}
