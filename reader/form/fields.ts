import { asksForCode } from '../../contract/code-fields.ts';
import type { ReadField } from '../../contract/reading.ts';
import { AUTHENTICATOR, MESSAGED, codeChannel, maskedDestination } from '../choices/mfa-methods.ts';
import type { ControlFacts, TextFacts } from '../facts.ts';
import { type Cluster, formNames } from './clusters.ts';
import { type ClassifiedControl, type ControlMeaning, controlWords, groupCodeBoxes } from './control-meaning.ts';
import { identifierWords, normalize } from '../text/normalize.ts';
import { FORGOT } from '../text/words.ts';

const MAX_TEXT = 500;

/** The fields of the login form, in the order a person fills them in. */
export function readFields(group: Cluster): ReadField[] {
  const names = new Set<string>();
  const fields: ReadField[] = [];
  for (const run of groupCodeBoxes(group.controls)) {
    const [first] = run;
    if (!first || isLeftOut(first.meaning)) continue;
    const field = toField(group, first, run.length);
    fields.push({ ...field, name: uniqueName(field.name, names) });
  }
  return fields;
}

function isLeftOut(meaning: ControlMeaning): boolean {
  return meaning === 'search' || meaning === 'newsletter' || meaning === 'new_password';
}

function toField(group: Cluster, meant: ClassifiedControl, boxes: number): ReadField {
  const { control, meaning } = meant;
  const texts = nearbyTexts(group);
  const type = fieldType(meaning, control, group, texts);
  const label = labelOf(control, group, boxes) || WORDS_OF_TYPE[type];
  const hint = hintOf(type, control, texts);
  const channel = codeChannel(type, label, hint);
  return {
    type,
    discovered_type: discoveredType(type, control),
    name: control.name || control.id || identifierWords(labelOf(control, group, boxes)).replaceAll(' ', '_') || type,
    label,
    selector: control.selector,
    placeholder: control.placeholder || null,
    hint,
    // A list that stands on one of its entries already need not be answered, nor what the site has filled in for everybody.
    required: control.tag === 'select' || type === 'text' ? wantsAnswer(control, group) : true,
    frame: [...group.frame.path],
    boxes,
    ...(channel === null ? {} : { channel }),
  };
}

function wantsAnswer({ tag, required, filled }: ControlFacts, { controls }: Cluster): boolean {
  // Alone it is what the page is there for, whichever entry the list stands on.
  if (controls.length === 1) return true;
  return !filled && (required || tag === 'select');
}

function fieldType(
  meaning: ControlMeaning,
  control: ControlFacts,
  group: Cluster,
  texts: readonly TextFacts[],
): ReadField['type'] {
  switch (meaning) {
    case 'identifier':
      return 'identifier';
    case 'password':
    case 'new_password':
      return 'password';
    case 'code':
      return codeType(control, group, texts);
    case 'captcha':
    case 'search':
    case 'newsletter':
    case 'profile':
    case 'card':
    case 'other':
      return 'text';
  }
}

/** An authenticator's code where the words say so; else a code that somebody was sent. */
function codeType(control: ControlFacts, group: Cluster, texts: readonly TextFacts[]): 'code' | 'totp_code' {
  const own = controlWords(control);
  const said = `${own.said} | ${normalize(control.description)}`;
  if (MESSAGED.test(said)) return 'code';
  if (AUTHENTICATOR.test(said)) return 'totp_code';
  const around = normalize(texts.map((text) => text.plain).join(' | '));
  const messaged = MESSAGED.test(around);
  const authenticator = AUTHENTICATOR.test(around);
  if (messaged !== authenticator) return authenticator ? 'totp_code' : 'code';
  if (messaged && authenticator) {
    // Both are named: the one that is said first is the one asked for, the other is the way around it.
    return around.search(AUTHENTICATOR) < around.search(MESSAGED) ? 'totp_code' : 'code';
  }
  // A password for one use that nobody was sent is made by the person's own device.
  if (!messaged && OWN_DEVICE.test(`${said} | ${around}`)) return 'totp_code';
  const named = `${own.named} ${formNames(group)}`;
  return /(?<![a-z])(totp|otp|otp attempt|2fa|mfa|tfa|two ?factor|authenticator|authcode)(?![a-z])/.test(named)
    ? 'totp_code'
    : 'code';
}

const OWN_DEVICE =
  /one[ -]?time password|time[ -]?based|(authentication|two[ -]factor) (device|token)|(?<![a-z])totp(?![a-z])/;

function discoveredType(type: ReadField['type'], control: ControlFacts): ReadField['discovered_type'] {
  switch (type) {
    case 'password':
      return 'password';
    case 'code':
      return 'code';
    case 'totp_code':
    case 'totp_secret':
      return 'totp';
    case 'identifier':
    case 'text':
      if (control.type === 'email' || control.type === 'tel' || control.type === 'number' || control.type === 'url') {
        return control.type;
      }
      return 'text';
  }
}

function labelOf(control: ControlFacts, group: Cluster, boxes: number): string {
  const own = [
    control.label,
    control.ariaLabel,
    speaking(control.placeholder),
    control.nearText,
    control.placeholder,
    control.title,
  ];
  const isLone = group.controls.length === 1 && control.tag === 'select';
  const candidates = boxes > 1 ? [group.heading, control.nearText, ...own] : isLone ? [...own, group.heading] : own;
  const label = candidates.find((text) => text !== '') ?? ownName(control);
  return label.replace(/\s*[*:：]+\s*$/, '').slice(0, MAX_TEXT);
}

/** Name or id as words; one of a letter or two says nothing. */
function ownName(control: ControlFacts): string {
  const words = identifierWords(control.name || control.id);
  return words.length > 2 ? words : '';
}

const WORDS_OF_TYPE: Readonly<Record<ReadField['type'], string>> = {
  identifier: 'User name',
  password: 'Password',
  code: 'Code',
  totp_code: 'Authenticator code',
  totp_secret: 'Authenticator secret',
  text: 'Text',
};

/** A placeholder that names the field; an example of what to type does not. */
function speaking(placeholder: string): string {
  return /[@\d•…*]|e\.g\.|z\.\s?B\.|^\P{L}*$/iu.test(placeholder) ? '' : placeholder;
}

/** Where a code was sent, or what the page says under the field; an error is not a hint. */
function hintOf(type: ReadField['type'], control: ControlFacts, texts: readonly TextFacts[]): string | null {
  if (asksForCode(type)) {
    const told = texts.find((text) => maskedDestination(text.text)) ?? texts.find((text) => isAboutCodes(text.text));
    if (told) return told.text.slice(0, MAX_TEXT);
  }
  if (control.options.length > 0) return control.options.join(' / ').slice(0, MAX_TEXT);
  const description = control.invalid ? '' : control.description;
  return description === '' || FORGOT.test(normalize(description)) ? null : description.slice(0, MAX_TEXT);
}

function isAboutCodes(text: string): boolean {
  const words = normalize(text);
  return text.length > 20 && (MESSAGED.test(words) || AUTHENTICATOR.test(words));
}

/** Plain texts of the frame that stand near the form; links and buttons name other ways, not this one. */
export function nearbyTexts(group: Cluster): TextFacts[] {
  return group.frame.facts.texts.filter(
    (text) => text.within === 'none' && text.region !== 'footer' && text.region !== 'nav' && text.region !== 'consent',
  );
}

function uniqueName(name: string, taken: Set<string>): string {
  let unique = name;
  for (let next = 2; taken.has(unique); next += 1) unique = `${name}_${next}`;
  taken.add(unique);
  return unique;
}
