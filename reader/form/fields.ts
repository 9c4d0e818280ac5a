import { asksForCode } from '../../contract/code-fields.ts';
import type { ReadField } from '../../contract/reading.ts';
import { AUTHENTICATOR, MESSAGED, codeChannel, maskedDestination } from '../choices/mfa-methods.ts';
import type { ControlFacts, TextFacts } from '../facts.ts';
import { type Cluster, formNames } from './clusters.ts';
import { type ClassifiedControl, type ControlMeaning, controlWords, groupBoxes } from './control-meaning.ts';
import { identifierWords, normalize } from '../text/normalize.ts';
import { bodyTexts } from '../text/page-text.ts';
import { FORGOT, SIGN_IN } from '../text/words.ts';

const MAX_TEXT = 500;

/** The fields of the login form, in order. */
export function readFields(cluster: Cluster): ReadField[] {
  const names = new Set<string>();
  const fields: ReadField[] = [];
  for (const run of groupBoxes(cluster.controls)) {
    const [first] = run;
    if (!first || isIgnored(first.meaning)) continue;
    const field = toField(cluster, first, run.length);
    fields.push({ ...field, name: uniqueName(field.name, names) });
  }
  return fields;
}

function isIgnored(meaning: ControlMeaning): boolean {
  return meaning === 'search' || meaning === 'newsletter' || meaning === 'new_password';
}

function toField(cluster: Cluster, classified: ClassifiedControl, boxes: number): ReadField {
  const { control, meaning } = classified;
  const texts = bodyTexts(cluster.frame.facts);
  const type = fieldType(meaning, control, cluster, texts);
  const label = labelOf(control, cluster, boxes) || DEFAULT_LABELS[type];
  const hint = hintOf(type, control, texts);
  const channel = codeChannel(type, label, hint);
  return {
    type,
    discovered_type: discoveredType(type, control),
    name: control.name || control.id || identifierWords(labelOf(control, cluster, boxes)).replaceAll(' ', '_') || type,
    label,
    selector: control.selector,
    placeholder: control.placeholder || null,
    hint,
    // A list with a selected entry and a prefilled field need no answer.
    required:
      type !== 'password' && (control.tag === 'select' || type === 'text') ? isRequired(classified, cluster) : true,
    frame: [...cluster.frame.path],
    boxes,
    ...(channel === null ? {} : { channel }),
    ...(meaning === 'captcha' ? captchaOf(control) : {}),
  };
}

/** The field without the error that its label ends with: the label is to be the same after a refusal. */
export function withoutError(field: ReadField, error: string | null): ReadField {
  if (error === null || !field.label.endsWith(error)) return field;
  const label = field.label.slice(0, -error.length).replace(/[\s\-–—:*]+$/, '');
  return label === '' ? field : { ...field, label };
}

function captchaOf({ picture }: ControlFacts): Pick<ReadField, 'captcha' | 'picture'> {
  return { captcha: true, ...(picture === null ? {} : { picture }) };
}

function isRequired({ control, meaning }: ClassifiedControl, { controls }: Cluster): boolean {
  const { tag, required, filled } = control;
  // A single field is the page's purpose, even if a list entry is selected; a picture's characters are always needed.
  if (controls.length === 1 || meaning === 'captcha') return true;
  return !filled && (required || tag === 'select');
}

function fieldType(
  meaning: ControlMeaning,
  control: ControlFacts,
  cluster: Cluster,
  texts: readonly TextFacts[],
): ReadField['type'] {
  switch (meaning) {
    case 'identifier':
      return 'identifier';
    case 'password':
    case 'new_password':
      return 'password';
    case 'code':
      return codeType(control, cluster, texts);
    case 'captcha':
    case 'search':
    case 'newsletter':
    case 'profile':
    case 'card':
    case 'other':
      return 'text';
  }
}

/** `totp_code` if the words mention an authenticator, else `code`. */
function codeType(control: ControlFacts, cluster: Cluster, texts: readonly TextFacts[]): 'code' | 'totp_code' {
  const own = controlWords(control);
  const said = `${own.said} | ${normalize(control.description)}`;
  if (MESSAGED.test(said)) return 'code';
  if (AUTHENTICATOR.test(said)) return 'totp_code';
  const around = normalize(texts.map((text) => text.plain).join(' | '));
  const messaged = MESSAGED.test(around);
  const authenticator = AUTHENTICATOR.test(around);
  if (messaged !== authenticator) return authenticator ? 'totp_code' : 'code';
  if (messaged && authenticator) {
    // If both are mentioned, the first one is requested and the other is the alternative.
    return around.search(AUTHENTICATOR) < around.search(MESSAGED) ? 'totp_code' : 'code';
  }
  // A one-time password that was not sent comes from the user's own device.
  if (!messaged && DEVICE_CODE.test(`${said} | ${around}`)) return 'totp_code';
  const named = `${own.named} ${formNames(cluster)}`;
  return /(?<![a-z])(totp|otp|otp attempt|2fa|mfa|tfa|two ?factor|authenticator|authcode)(?![a-z])/.test(named)
    ? 'totp_code'
    : 'code';
}

const DEVICE_CODE =
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

function labelOf(control: ControlFacts, cluster: Cluster, boxes: number): string {
  const own = [
    control.label,
    control.ariaLabel,
    descriptivePlaceholder(control.placeholder),
    control.nearText,
    control.placeholder,
    control.title,
  ];
  const isLone = cluster.controls.length === 1 && control.tag === 'select';
  const around = [cluster.heading, control.nearText];
  // `Log in` above the boxes does not say what they take.
  if (SIGN_IN.test(normalize(cluster.heading))) around.reverse();
  const ofAllBoxes = own.filter((text) => !/(?<!\d)1(?!\d)/.test(text));
  const candidates = boxes > 1 ? [...around, ...ofAllBoxes] : isLone ? [...own, cluster.heading] : own;
  const label = candidates.find((text) => text !== '') ?? attributeName(control);
  return label.replace(/\s*[*:：]+\s*$/, '').slice(0, MAX_TEXT);
}

/** Name or id as words; one or two letters mean nothing. */
function attributeName(control: ControlFacts): string {
  const words = identifierWords(control.name || control.id);
  return words.length > 2 ? words : '';
}

const DEFAULT_LABELS: Readonly<Record<ReadField['type'], string>> = {
  identifier: 'User name',
  password: 'Password',
  code: 'Code',
  totp_code: 'Authenticator code',
  totp_secret: 'Authenticator secret',
  text: 'Text',
};

/** A placeholder that names the field, not an example value. */
function descriptivePlaceholder(placeholder: string): string {
  return /[@\d•…*]|e\.g\.|z\.\s?B\.|^\P{L}*$/iu.test(placeholder) ? '' : placeholder;
}

/** Where a code was sent, the format of a date, the options of a list, or the field's description unless it is an error. */
function hintOf(type: ReadField['type'], control: ControlFacts, texts: readonly TextFacts[]): string | null {
  if (asksForCode(type)) {
    const hint = texts.find(({ text }) => maskedDestination(text)) ?? texts.find(({ text }) => isAboutCodes(text));
    if (hint) return hint.text.slice(0, MAX_TEXT);
  }
  if (control.type === 'date') return 'YYYY-MM-DD';
  if (control.options.length > 0) return control.options.join(' / ').slice(0, MAX_TEXT);
  const description = control.invalid ? '' : control.description;
  return description === '' || FORGOT.test(normalize(description)) ? null : description.slice(0, MAX_TEXT);
}

function isAboutCodes(text: string): boolean {
  const words = normalize(text);
  return text.length > 20 && (MESSAGED.test(words) || AUTHENTICATOR.test(words));
}

function uniqueName(name: string, taken: Set<string>): string {
  let unique = name;
  for (let next = 2; taken.has(unique); next += 1) unique = `${name}_${next}`;
  taken.add(unique);
  return unique;
}
