import type { PageReading } from '../../contract/reading.ts';
import { alternativeMethodType } from '../choices/alternative-methods.ts';
import { isProviderButton } from '../choices/sso.ts';
import type { ClickableFacts, FrameSnapshot } from '../facts.ts';
import { buttonWords, isHelperButton, isLink, navigatesAway } from './buttons.ts';
import type { Cluster } from './clusters.ts';
import { identifierWords } from '../text/normalize.ts';
import { ASIDE, CONTINUE, SEARCH, SIGN_IN, SIGN_UP } from '../text/words.ts';

/** The submit button of a cluster, with the reason. */
export interface Submit {
  readonly button: ClickableFacts;
  readonly why: string;
}

/** A button that sends a link or a code, the main action of a page without a password. */
const SENDS_LINK_OR_CODE = /(send|e-?mail|text|get) (me )?(an? |the )?([a-z-]+ ){0,3}(link|code)|continue with e-?mail/;

/** Minimum score of a submit button; `npm run bench -- fit` fits the weights to it. */
export const MIN_SUBMIT_SCORE = 2;

/** The control that submits the fields of a cluster, or undefined if there is none (Enter submits them). */
export function findSubmit(cluster: Cluster, weights: SubmitWeights = SUBMIT_WEIGHTS): Submit | undefined {
  const formIndex = cluster.controls[0]?.control.form ?? -1;
  const all = cluster.frame.facts.clickables.filter((each) => each.visible);
  const inForm = all.filter((each) => formIndex >= 0 && each.form === formIndex);
  const within = ({ order }: ClickableFacts): boolean => order > cluster.from && order < cluster.to;
  const inside = (formIndex >= 0 ? inForm : all).filter(within);
  // Beside a code, such a button sends another one.
  const takesCode = cluster.controls.some(({ meaning }) => meaning === 'code');
  const sending = takesCode
    ? []
    : inside.filter((each) => each.order > cluster.last && SENDS_LINK_OR_CODE.test(buttonWords(each)));
  const named = inForm.filter((each) => !within(each) && each.order > cluster.last);
  return (
    bestOf(inside, cluster, 'in the form, after the fields', weights) ??
    (sending[0] && { button: sending[0], why: `"${sending[0].text.slice(0, 40)}", sends a sign-in link or code` }) ??
    bestOf(
      all.filter((each) => isBelow(each, cluster)),
      cluster,
      'right under the fields',
      weights,
    ) ??
    bestOf(named, cluster, 'named as a button of the form', weights)
  );
}

/** The control that submits a choice made by a radio button, or null. */
export function readChoiceSubmit(frames: readonly FrameSnapshot[]): PageReading['submit'] {
  for (const { path, facts } of frames) {
    const radio = facts.clickables.find((each) => each.type === 'radio' && each.visible);
    const after = radio && facts.clickables.filter((each) => each.visible && each.order > radio.order);
    const rated = after?.map((each) => ({ each, points: score(each, radio?.order ?? 0, SUBMIT_WEIGHTS) })) ?? [];
    const sends = rated.filter(
      ({ each, points }) =>
        points >= MIN_SUBMIT_SCORE || (each.type === 'submit' && SENDS_LINK_OR_CODE.test(buttonWords(each))),
    );
    const [button] = sends.sort(byPoints);
    if (button) return { selector: button.each.selector, frame: [...path] };
  }
  return null;
}

/** True for a button right below the fields that the form element does not contain. */
function isBelow({ box, order, form }: ClickableFacts, cluster: Cluster): boolean {
  const { x, y, width, height } = cluster.box;
  const inOrder = order > cluster.from && (order < cluster.to || form < 0);
  const bottom = y + height;
  return (
    inOrder && box.y >= bottom - 60 && box.y <= bottom + 320 && box.x + box.width > x - 40 && box.x < x + width + 200
  );
}

function bestOf(
  candidates: readonly ClickableFacts[],
  cluster: Cluster,
  where: string,
  weights: SubmitWeights,
): Submit | undefined {
  const rated = candidates
    .map((each) => ({ each, points: score(each, cluster.last, weights) }))
    .filter(({ points }) => points >= MIN_SUBMIT_SCORE);
  const [first] = rated.sort(byPoints);
  return first && { button: first.each, why: `"${first.each.text.slice(0, 40)}", ${where}` };
}

/** Higher scores first, then document order. */
function byPoints(a: { points: number; each: ClickableFacts }, b: { points: number; each: ClickableFacts }): number {
  return b.points - a.points || a.each.order - b.each.order;
}

/** Signs for and against a control that may submit the fields; null for one that never does. */
export function submitSigns(button: ClickableFacts, lastField: number): SubmitSign[] | null {
  if (button.type === 'radio' || button.type === 'reset' || ['tab', 'option'].includes(button.role)) return null;
  if (button.href.startsWith('mailto:') || button.href.startsWith('tel:')) return null;
  const said = buttonWords(button);
  if (isHelperButton(button, said) || isProviderButton(button)) return null;
  const named = identifierWords(button.id, button.name, button.classes, button.extra);
  const signsIn = SIGN_IN.test(said);
  const asks = signsIn || CONTINUE.test(said);
  const sends = button.type === 'submit' || button.type === 'image';
  const signs: SubmitSign[] = [];
  const when = (is: boolean, sign: SubmitSign): void => {
    if (is) signs.push(sign);
  };
  when(sends, 'sends');
  when(signsIn, button.text.length <= 25 ? 'signsIn' : 'signsInAtLength');
  when(!signsIn && asks, 'continues');
  when(SUBMIT_NAME.test(named), 'named');
  when(button.order > lastField, 'afterFields');
  // A script link after the fields probably submits them, whatever its text.
  when(button.order > lastField && /^javascript:.*\w/i.test(button.href), 'runsScript');
  if (isLink(button))
    when(navigatesAway(button), signsIn && looksLikeButton(button) ? 'leadsAwayAsButton' : 'navigatesAway');
  else if (!asks && !sends) signs.push(button.tag === 'button' || button.tag === 'input' ? 'isButton' : 'isNoButton');
  when(said === '' && button.type !== 'image', 'saysNothing');
  when(ASIDE.test(said) && !asks, 'isAside');
  when(SEARCH.test(said) && !asks, 'searches');
  when(alternativeMethodType(button, true) !== undefined, 'isOtherWay');
  when(SIGN_UP.test(said) && !signsIn, 'signsUp');
  return signs;
}

function score(button: ClickableFacts, lastField: number, weights: SubmitWeights): number {
  const signs = submitSigns(button, lastField);
  return signs === null ? 0 : signs.reduce((sum, sign) => sum + weights[sign], 0);
}

const SUBMIT_NAME = /(^| )(submit|login|log in|signin|sign in|logon|next|continue|primary|verify|main)( |$)/;

function looksLikeButton(button: ClickableFacts): boolean {
  return /btn|button|submit/i.test(button.classes);
}

/** A sign for or against a submit button. */
export type SubmitSign = keyof typeof SUBMIT_WEIGHTS;

type SubmitWeights = Readonly<Record<SubmitSign, number>>;

/** Fitted by `npm run bench -- fit` to the pages of test/pages that are not held out. Its fit gets no further button right. */
export const SUBMIT_WEIGHTS = {
  sends: 3,
  signsIn: 5,
  signsInAtLength: 4,
  continues: 3,
  named: 2,
  afterFields: 1,
  runsScript: 1,
  navigatesAway: -6,
  leadsAwayAsButton: -3,
  isButton: 1,
  isNoButton: -1,
  saysNothing: -2,
  isAside: -6,
  searches: -6,
  isOtherWay: -6,
  signsUp: -6,
};
