import { alternativeMethodType } from '../choices/alternative-methods.ts';
import type { Box, ClickableFacts, ControlFacts, FormFacts, FrameSnapshot, TextFacts } from '../facts.ts';
import { isContinueButton, isSendButton } from './buttons.ts';
import {
  type ControlMeaning,
  type ClassifiedControl,
  ONE_TIME,
  groupCodeBoxes,
  classifyControl,
  controlWords,
} from './control-meaning.ts';
import { usableControls } from './usable-controls.ts';
import { identifierWords, normalize } from '../text/normalize.ts';
import { CODE, NEW_PASSWORD, OTHER_CODE, PASSWORD, SIGN_IN, SIGN_UP } from '../text/words.ts';

/** Fields that a person fills in together, and what stands around them. */
export interface Cluster {
  readonly frame: FrameSnapshot;
  /** In the order of the page; search boxes and news left out. */
  readonly controls: readonly ClassifiedControl[];
  readonly form: FormFacts | undefined;
  /** The nearest heading above the fields that no other cluster stands between. */
  readonly heading: string;
  /** Orders between which everything belongs to this cluster: from the end of the one before to the start of the next. */
  readonly from: number;
  readonly to: number;
  readonly box: Box;
  /** Its first and its last field, in orders. */
  readonly first: number;
  readonly last: number;
}

/** Pixels between two fields that nobody fills in together. */
const FAR_APART = 450;

/** Cuts the fields of a frame into clusters: at forms, at buttons that send, at headings and at wide gaps. */
export function findClusters(frame: FrameSnapshot): Cluster[] {
  const { facts } = frame;
  const controls = usableControls(facts).filter(({ region }) => region !== 'consent');
  const senders = facts.clickables.filter((each) => isSendButton(each));
  const headings = facts.texts.filter((text) => text.heading && text.within === 'none' && text.tag !== 'legend');
  const runs: ControlFacts[][] = [];
  let sender: ClickableFacts | undefined;
  for (const control of controls) {
    const run = runs.at(-1);
    const before = run?.at(-1);
    const between = ({ order }: { order: number }): boolean =>
      before !== undefined && order > before.order && order < control.order;
    sender = senders.find(between);
    const apart =
      before === undefined ||
      before.form !== control.form ||
      (sender !== undefined && !isOnlyForOne(sender, before, control)) ||
      headings.some((heading) => between(heading) && !labels(heading, control)) ||
      control.box.y - (before.box.y + before.box.height) > FAR_APART;
    if (apart) runs.push([control]);
    else run?.push(control);
  }
  return runs.map((run, at) => clusterOf(frame, run, runs[at - 1], runs[at + 1])).filter((each) => each !== undefined);
}

/** A button in the row of one field works on that field: it sends a code, it checks a name, it offers another way than a password. */
function isOnlyForOne(sender: ClickableFacts, before: ControlFacts, after: ControlFacts): boolean {
  if (isContinueButton(sender) && alternativeMethodType(sender, true) === undefined) return false;
  return sender.type !== 'submit' && before.form === after.form && after.type === 'password';
}

/** Some authors mark up labels as headings. */
function labels(heading: TextFacts, control: ControlFacts): boolean {
  const said = controlWords(control).said;
  return said !== '' && heading.text.length <= 40 && said.includes(normalize(heading.text));
}

function clusterOf(
  frame: FrameSnapshot,
  run: readonly ControlFacts[],
  before: readonly ControlFacts[] | undefined,
  after: readonly ControlFacts[] | undefined,
): Cluster | undefined {
  const meant: ClassifiedControl[] = groupCodeBoxes(
    run.map((control) => ({ control, ...classifyControl(control) })),
  ).flat();
  const controls = inContext(loneOnLoginPage(frame, meant)).filter(
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
    box: around(controls.map(({ control }) => control.box)),
    first: first.order,
    last: last.order,
  };
}

function around(boxes: readonly Box[]): Box {
  const x = Math.min(...boxes.map((box) => box.x));
  const y = Math.min(...boxes.map((box) => box.y));
  const right = Math.max(...boxes.map((box) => box.x + box.width));
  const bottom = Math.max(...boxes.map((box) => box.y + box.height));
  return { x, y, width: right - x, height: bottom - y };
}

/** A text field alone asks for a name where the heading above it or the title speaks of signing in. */
function loneOnLoginPage(
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

/** What a field alone does not tell, those beside it do. */
function inContext(controls: readonly ClassifiedControl[]): ClassifiedControl[] {
  const has = (meaning: ControlMeaning): boolean => controls.some((each) => each.meaning === meaning);
  const secrets = controls.filter(({ control }) => control.type === 'password');
  const texts = controls.filter(({ control }) => control.tag === 'input' && control.type !== 'password');
  const [secret] = secrets;
  let result = controls;
  const become = (which: ClassifiedControl | undefined, meaning: ControlMeaning, why: string): void => {
    if (which) result = result.map((each) => (each.control === which.control ? { ...each, meaning, why } : each));
  };

  const [lone] = controls;
  if (controls.length === 1 && lone !== undefined && PLACE.test(controlWords(lone.control).said)) {
    become(lone, 'identifier', 'a place to sign in to');
  }
  // A library knows its readers by the number of their card.
  const cards = controls.filter(({ meaning }) => meaning === 'card');
  if (cards.length === 1 && cards[0]?.control.type !== 'password' && secrets.length === 1) {
    become(cards[0], 'identifier', 'number of a card beside a secret');
  }
  if (secret !== undefined && !has('password')) {
    const said = controlWords(secret.control).said;
    const alone = secrets.length === 1 && controls.length <= 2;
    // A PIN, an access code: the secret of this site, unless something says that it is for one use.
    if (secret.meaning === 'code' && !ONE_TIME.test(said) && (texts.length > 0 || isSecretWord(said)))
      become(secret, 'password', 'the only secret beside a text field');
    // "Confirm your password" alone asks for the old one again.
    else if (secret.meaning === 'new_password' && alone && texts.length === 0 && isOldPassword(secret.control))
      become(secret, 'password', 'a password to confirm, alone');
  }
  const password = result.find(({ meaning }) => meaning === 'password' || meaning === 'new_password');
  const before = result.filter(({ control }) => password !== undefined && control.order < password.control.order);
  const nearest = before.findLast(
    ({ meaning, control }) =>
      control.tag === 'input' &&
      control.type !== 'password' &&
      meaning !== 'captcha' &&
      meaning !== 'card' &&
      meaning !== 'identifier',
  );
  if (password !== undefined && !before.some(({ meaning }) => meaning === 'identifier')) {
    become(nearest, 'identifier', 'nearest text field before the password');
  } else {
    // Several names (branch, account, contract): a code before the password is one of them, if nothing says one-time.
    for (const each of before) {
      const { said } = controlWords(each.control);
      if (each.meaning === 'code' && !ONE_TIME.test(said)) become(each, 'identifier', 'code before the password');
      else if (each.meaning === 'other' && NUMBERED.test(said))
        become(each, 'identifier', 'a number before the password');
    }
  }
  const codes = result.filter(({ meaning }) => meaning === 'code');
  // A recovery code beside the usual one is the way around it.
  for (const each of codes.slice(1)) {
    if (RECOVERY.test(controlWords(each.control).said)) become(each, 'other', 'recovery code beside the usual one');
  }
  return [...result];
}

/** One field that names a place to sign in to. */
const PLACE =
  /(?<![a-z])(workspace|organi[sz]ation|company domain|your domain|team|tenant|subdomain|site address)(?![a-z])/;
/** What is given to customers, branches, contracts and the like. */
const NUMBERED = /(?<![a-z])(id|no|nr|number|nummer|numer|numero|code)(?![a-z])|\w(nummer|nr)(?![a-z])|番号|号码|번호/;
const RECOVERY = /recovery|backup|emergency|wiederherstellung|secours|respaldo/;

/** A word for a secret that is kept, although it is a word for a code as well. */
function isSecretWord(said: string): boolean {
  return PASSWORD.test(said) || /(?<![a-z])(pin|access code|passcode|secret)(?![a-z])/.test(said) || !CODE.test(said);
}

function isOldPassword(control: ControlFacts): boolean {
  return (
    !control.autocomplete.includes('new-password') &&
    !/(?<![a-z])(new|choose|create|set|neues|nouveau|nueva)(?![a-z])/.test(controlWords(control).said)
  );
}

/** Nothing but its `autocomplete` or its name says that the password is a new one. */
export function isNewByAttributesOnly({ control }: ClassifiedControl): boolean {
  return !NEW_PASSWORD.test(controlWords(control).said);
}

/** What the author called the form around a cluster. */
export function formNames({ form }: Cluster): string {
  return form === undefined ? '' : identifierWords(form.id, form.name, form.classes, form.action, form.label);
}
