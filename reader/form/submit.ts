import type { PageReading } from '../../contract/reading.ts';
import { alternativeMethodType } from '../choices/alternative-methods.ts';
import { isProviderButton } from '../choices/sso.ts';
import type { ClickableFacts, FrameSnapshot } from '../facts.ts';
import { buttonWords, isHelperButton, isLink, navigatesAway } from './buttons.ts';
import type { Cluster } from './clusters.ts';
import { identifierWords } from '../text/normalize.ts';
import { ASIDE, CONTINUE, SEARCH, SIGN_IN, SIGN_UP } from '../text/words.ts';

/** The button of a cluster, with the reason for it. */
export interface Submit {
  readonly button: ClickableFacts;
  readonly why: string;
}

/** A button that has a link or a code sent: what a page without a password is for. */
const SENDS = /(send|e-?mail|text|get) (me )?(an? |the )?([a-z-]+ ){0,3}(link|code)|continue with e-?mail/;

/** Points from which a control is taken for the button; the fit holds them. */
export const ENOUGH = 2;

/** The control that sends the fields of a cluster, or undefined when there is none (they are then sent by Enter). */
export function findSubmit(cluster: Cluster, weights: SubmitWeights = SUBMIT_WEIGHTS): Submit | undefined {
  const formAt = cluster.controls[0]?.control.form ?? -1;
  const all = cluster.frame.facts.clickables.filter((each) => each.visible);
  const inForm = all.filter((each) => formAt >= 0 && each.form === formAt);
  const within = ({ order }: ClickableFacts): boolean => order > cluster.from && order < cluster.to;
  const inside = (formAt >= 0 ? inForm : all).filter(within);
  const sending = inside.filter((each) => each.order > cluster.last && SENDS.test(buttonWords(each)));
  const named = inForm.filter((each) => !within(each) && each.order > cluster.last);
  return (
    best(inside, cluster, 'in the form, after the fields', weights) ??
    (sending[0] && { button: sending[0], why: `"${sending[0].text.slice(0, 40)}", sends what signs in` }) ??
    best(
      all.filter((each) => isNear(each, cluster)),
      cluster,
      'right under the fields',
      weights,
    ) ??
    best(named, cluster, 'named as a button of the form', weights)
  );
}

/** The control that sends a choice that was marked by a radio button, or null. */
export function readChoiceSubmit(frames: readonly FrameSnapshot[]): PageReading['submit'] {
  for (const { path, facts } of frames) {
    const radio = facts.clickables.find((each) => each.type === 'radio' && each.visible);
    const after = radio && facts.clickables.filter((each) => each.visible && each.order > radio.order);
    const rated = after?.map((each) => ({ each, points: score(each, radio?.order ?? 0, SUBMIT_WEIGHTS) })) ?? [];
    const sends = rated.filter(
      ({ each, points }) => points >= ENOUGH || (each.type === 'submit' && SENDS.test(buttonWords(each))),
    );
    const [button] = sends.sort(byPoints);
    if (button) return { selector: button.each.selector, frame: [...path] };
  }
  return null;
}

/** Buttons right under the fields, outside of what the form's markup holds. */
function isNear({ box, order, form }: ClickableFacts, cluster: Cluster): boolean {
  const { x, y, width, height } = cluster.box;
  const inOrder = order > cluster.from && (order < cluster.to || form < 0);
  const bottom = y + height;
  return (
    inOrder && box.y >= bottom - 60 && box.y <= bottom + 320 && box.x + box.width > x - 40 && box.x < x + width + 200
  );
}

function best(
  candidates: readonly ClickableFacts[],
  cluster: Cluster,
  where: string,
  weights: SubmitWeights,
): Submit | undefined {
  const rated = candidates
    .map((each) => ({ each, points: score(each, cluster.last, weights) }))
    .filter(({ points }) => points >= ENOUGH);
  const [first] = rated.sort(byPoints);
  return first && { button: first.each, why: `"${first.each.text.slice(0, 40)}", ${where}` };
}

/** More points first; with as many, the first in the document. */
function byPoints(a: { points: number; each: ClickableFacts }, b: { points: number; each: ClickableFacts }): number {
  return b.points - a.points || a.each.order - b.each.order;
}

/** What speaks for and against a control that may send the fields; null for one that never does. */
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
  // Whatever it says, a link that runs a script and stands after the fields is likely to send them.
  when(button.order > lastField && /^javascript:.*\w/i.test(button.href), 'runsScript');
  if (isLink(button))
    when(navigatesAway(button), signsIn && isShapedAsButton(button) ? 'leadsAwayAsButton' : 'navigatesAway');
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

function isShapedAsButton(button: ClickableFacts): boolean {
  return /btn|button|submit/i.test(button.classes);
}

/** What speaks for or against a control that may send a login. */
export type SubmitSign = keyof typeof SUBMIT_WEIGHTS;

/** Points by which controls are told apart. */
export type SubmitWeights = Readonly<Record<SubmitSign, number>>;

/**
 * `npm run bench -- fit` fits them on the seen pages of test/pages, from here on, and says what that would change. Its fit gets
 * no button right that these get wrong, so that they stay as they are.
 */
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
