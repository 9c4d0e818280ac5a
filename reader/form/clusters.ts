import { alternativeMethodType } from '../choices/alternative-methods.ts';
import type { Box, ClickableFacts, ControlFacts, FormFacts, FrameSnapshot, TextFacts } from '../facts.ts';
import { isContinueButton, isSendButton } from './buttons.ts';
import {
  type ClassifiedControl,
  type ControlMeaning,
  ONE_TIME,
  classifyControl,
  controlWords,
  groupBoxes,
  meaningOfBoxes,
} from './control-meaning.ts';
import { usableControls } from './usable-controls.ts';
import { identifierWords, normalize } from '../text/normalize.ts';
import { CODE, NEW_PASSWORD, OTHER_CODE, PASSWORD, SIGN_IN, SIGN_UP } from '../text/words.ts';

/** Fields that are filled in together, with their surroundings. */
export interface Cluster {
  readonly frame: FrameSnapshot;
  /** In page order, without search boxes and newsletter fields. */
  readonly controls: readonly ClassifiedControl[];
  readonly form: FormFacts | undefined;
  /** The nearest heading above the fields and below the previous cluster. */
  readonly heading: string;
  /** The cluster's range in document order: from the end of the previous cluster to the start of the next. */
  readonly from: number;
  readonly to: number;
  readonly box: Box;
  /** Document order of its first and last field. */
  readonly first: number;
  readonly last: number;
}

/** Fields further apart than this are not filled in together, in pixels. */
const MAX_FIELD_GAP = 450;

/** Splits the fields of a frame into clusters at form boundaries, submit buttons, headings and wide gaps. */
export function findClusters(frame: FrameSnapshot): Cluster[] {
  const { facts } = frame;
  const controls = usableControls(facts).filter(({ region }) => region !== 'consent');
  const senders = facts.clickables.filter(isSendButton);
  const headings = facts.texts.filter((text) => text.heading && text.within === 'none' && text.tag !== 'legend');
  const runs: ControlFacts[][] = [];
  for (const control of controls) {
    const run = runs.at(-1);
    const before = run?.at(-1);
    const between = ({ order }: { order: number }): boolean =>
      before !== undefined && order > before.order && order < control.order;
    const sender = senders.find(between);
    const apart =
      before === undefined ||
      before.form !== control.form ||
      (sender !== undefined && !belongsToOneField(sender, before, control)) ||
      headings.some((heading) => between(heading) && !isLabelFor(heading, control)) ||
      control.box.y - (before.box.y + before.box.height) > MAX_FIELD_GAP;
    if (apart) runs.push([control]);
    else run?.push(control);
  }
  return runs.map((run, at) => clusterOf(frame, run, runs[at - 1], runs[at + 1])).filter((each) => each !== undefined);
}

/** True for a button that works on the field before it: it sends a code, checks a name or offers an alternative to the password. */
function belongsToOneField(sender: ClickableFacts, before: ControlFacts, after: ControlFacts): boolean {
  if (isContinueButton(sender) && alternativeMethodType(sender, true) === undefined) return false;
  return sender.type !== 'submit' && before.form === after.form && after.type === 'password';
}

/** Some authors mark up labels as headings. */
function isLabelFor(heading: TextFacts, control: ControlFacts): boolean {
  const said = controlWords(control).said;
  return said !== '' && heading.text.length <= 40 && said.includes(normalize(heading.text));
}

function clusterOf(
  frame: FrameSnapshot,
  run: readonly ControlFacts[],
  before: readonly ControlFacts[] | undefined,
  after: readonly ControlFacts[] | undefined,
): Cluster | undefined {
  const rows = groupBoxes(run.map((control) => ({ control, ...classifyControl(control) })));
  const classified = rows.flatMap((row) => (row.length === 1 ? row : withMeaningOfBoxes(frame, row)));
  const controls = resolveInContext(resolveLoneField(frame, classified)).filter(
    ({ meaning }) => meaning !== 'search' && meaning !== 'newsletter',
  );
  const [first, last] = [controls[0]?.control, controls.at(-1)?.control];
  if (first === undefined || last === undefined) return undefined;
  const from = before?.at(-1)?.order ?? -1;
  const headings = frame.facts.texts.filter(
    ({ heading, order, region }) => heading && order > from && order < first.order && region !== 'footer',
  );
  const heading = headings.at(-1)?.text ?? '';
  return {
    frame,
    controls,
    form: frame.facts.forms[first.form],
    heading,
    from,
    to: after?.[0]?.order ?? Number.POSITIVE_INFINITY,
    box: boundingBox(controls.map(({ control }) => control.box)),
    first: first.order,
    last: last.order,
  };
}

function withMeaningOfBoxes({ facts }: FrameSnapshot, row: readonly ClassifiedControl[]): ClassifiedControl[] {
  const said = [...facts.texts.map(({ text }) => text), ...row.map(({ control }) => control.ariaLabel)].join(' | ');
  const meaning = meaningOfBoxes(row, normalize(said));
  return row.map(({ control }) => ({ control, ...meaning }));
}

function boundingBox(boxes: readonly Box[]): Box {
  const x = Math.min(...boxes.map((box) => box.x));
  const y = Math.min(...boxes.map((box) => box.y));
  const right = Math.max(...boxes.map((box) => box.x + box.width));
  const bottom = Math.max(...boxes.map((box) => box.y + box.height));
  return { x, y, width: right - x, height: bottom - y };
}

/** A single text field asks for an identifier if the heading above it, or the title, mentions signing in. */
function resolveLoneField(
  { facts }: FrameSnapshot,
  controls: readonly ClassifiedControl[],
): readonly ClassifiedControl[] {
  const [lone] = controls;
  if (lone?.meaning !== 'other' || controls.length > 1 || lone.control.tag !== 'input') return controls;
  const headings = facts.texts.filter(({ heading, order }) => heading && order < lone.control.order);
  const said = normalize(headings.at(-1)?.text ?? facts.title);
  if (!SIGN_IN.test(said) || SIGN_UP.test(said) || OTHER_CODE.test(controlWords(lone.control).said)) return controls;
  return [{ ...lone, meaning: 'identifier', why: 'the only field under a heading about signing in' }];
}

/** Reclassifies fields by the other fields of their cluster. */
function resolveInContext(controls: readonly ClassifiedControl[]): ClassifiedControl[] {
  const has = (meaning: ControlMeaning): boolean => controls.some((each) => each.meaning === meaning);
  const secrets = controls.filter(({ control }) => control.type === 'password');
  const texts = controls.filter(({ control }) => control.tag === 'input' && control.type !== 'password');
  const [secret] = secrets;
  let result = controls;
  const reclassify = (which: ClassifiedControl | undefined, meaning: ControlMeaning, why: string): void => {
    if (which) result = result.map((each) => (each.control === which.control ? { ...each, meaning, why } : each));
  };

  const [lone] = controls;
  if (controls.length === 1 && lone !== undefined && WORKSPACE.test(controlWords(lone.control).said)) {
    reclassify(lone, 'identifier', 'a workspace to sign in to');
  }
  // Libraries identify their readers by card number.
  const cards = controls.filter(({ meaning }) => meaning === 'card');
  if (cards.length === 1 && cards[0]?.control.type !== 'password' && secrets.length === 1) {
    reclassify(cards[0], 'identifier', 'number of a card beside a secret');
  }
  if (secret !== undefined && !has('password')) {
    const said = controlWords(secret.control).said;
    const alone = secrets.length === 1 && controls.length <= 2;
    // A PIN or access code is the site's password, unless it is labeled as one-time.
    if (secret.meaning === 'code' && !ONE_TIME.test(said) && (texts.length > 0 || isSecretWord(said)))
      reclassify(secret, 'password', 'the only secret beside a text field');
    // A lone "Confirm your password" asks for the existing password.
    else if (secret.meaning === 'new_password' && alone && texts.length === 0 && isOldPassword(secret.control))
      reclassify(secret, 'password', 'a password to confirm, alone');
  }
  const password = result.find(({ meaning }) => meaning === 'password' || meaning === 'new_password');
  const before = result.filter(({ control }) => password !== undefined && control.order < password.control.order);
  const candidates = before.filter(
    ({ meaning, control }) =>
      control.tag === 'input' &&
      control.type !== 'password' &&
      control.type !== 'date' &&
      meaning !== 'captcha' &&
      meaning !== 'card' &&
      meaning !== 'identifier',
  );
  const isNumber = ({ control, meaning }: ClassifiedControl): boolean =>
    meaning === 'other' && NUMBERED.test(controlWords(control).said);
  const last = candidates.at(-1);
  // A member's number says who it is, the last name beside it only confirms that.
  const nearest = (last?.meaning === 'profile' ? candidates.findLast(isNumber) : undefined) ?? last;
  if (password !== undefined && !before.some(({ meaning }) => meaning === 'identifier')) {
    reclassify(nearest, 'identifier', 'nearest text field before the password');
  } else {
    // With several identifiers (branch, account, contract), a code before the password is one of them unless it is one-time.
    for (const each of before) {
      const { said } = controlWords(each.control);
      if (each.meaning === 'code' && !ONE_TIME.test(said)) reclassify(each, 'identifier', 'code before the password');
      else if (isNumber(each)) reclassify(each, 'identifier', 'a number before the password');
    }
  }
  const codes = result.filter(({ meaning }) => meaning === 'code');
  // A recovery code is an alternative to the usual code beside it.
  for (const each of codes.slice(1)) {
    if (RECOVERY.test(controlWords(each.control).said)) reclassify(each, 'other', 'recovery code beside the usual one');
  }
  return [...result];
}

/** Words of a field that asks which workspace to sign in to. */
const WORKSPACE =
  /(?<![a-z])(workspace|organi[sz]ation|company domain|your domain|team|tenant|subdomain|site address)(?![a-z])/;
/** Words of customer, branch and contract numbers. */
const NUMBERED = /(?<![a-z])(id|no|nr|number|nummer|numer|numero|code)(?![a-z])|\w(nummer|nr)(?![a-z])|番号|号码|번호/;
const RECOVERY = /recovery|backup|emergency|wiederherstellung|secours|respaldo/;

/** True for words of a permanent secret, even if they may also mean a code. */
function isSecretWord(said: string): boolean {
  return PASSWORD.test(said) || /(?<![a-z])(pin|access code|passcode|secret)(?![a-z])/.test(said) || !CODE.test(said);
}

function isOldPassword(control: ControlFacts): boolean {
  return (
    !control.autocomplete.includes('new-password') &&
    !/(?<![a-z])(new|choose|create|set|neues|nouveau|nueva)(?![a-z])/.test(controlWords(control).said)
  );
}

/** True if only `autocomplete` or the field name, not its label, marks the password as new. */
export function isNewByAttributesOnly({ control }: ClassifiedControl): boolean {
  return !NEW_PASSWORD.test(controlWords(control).said);
}

/** Words of the attributes of the form around a cluster. */
export function formNames({ form }: Cluster): string {
  return form === undefined ? '' : identifierWords(form.id, form.name, form.classes, form.action, form.label);
}
