import type { Figure } from './figure.ts';

/** Controls of one page of the corpus, with what speaks for and against each, and which of them is the right one, if any is. */
export interface Example<Sign extends string> {
  readonly candidates: readonly { readonly signs: readonly Sign[]; readonly isTruth: boolean }[];
  /** Whether the reader takes the right one, or none where there is none, with these points. */
  readonly isRight: (weights: Readonly<Record<Sign, number>>) => boolean;
  readonly isHeldOut: boolean;
}

/** How strongly a weight is held where it was: what the pages say nothing of stays as it is. */
const HELD = 0.02;
const STEPS = 2_000;
const STEP_SIZE = 0.02;

/**
 * Fits points on the seen pages: the weights under which the right controls are the likeliest (a softmax over those of a page and
 * "none of them", by gradient descent from the weights as they are). Prints them to standard error, and reports both parts before
 * and after. `enough`: the points from which the reader takes a control.
 */
export function fitted<Sign extends string>(
  what: string,
  examples: readonly Example<Sign>[],
  before: Readonly<Record<Sign, number>>,
  enough: number,
): Figure[] {
  const after = fit(
    examples.filter((each) => !each.isHeldOut),
    before,
    enough,
  );
  for (const sign of signsIn(after)) process.stderr.write(`  ${sign}: ${after[sign]},\n`);
  return [false, true].map((heldOut) => {
    const part = examples.filter((each) => each.isHeldOut === heldOut);
    const right = (weights: Readonly<Record<Sign, number>>): number =>
      part.filter(({ isRight }) => isRight(weights)).length;
    const loss = (weights: Readonly<Record<Sign, number>>): string => lossOf(part, weights, enough).toFixed(3);
    return {
      name: `${what}, ${heldOut ? 'held out' : 'seen'}`,
      value: `${right(before)} of ${part.length} before, ${right(after)} after; loss ${loss(before)} before, ${loss(after)} after`,
    };
  });
}

function fit<Sign extends string>(
  examples: readonly Example<Sign>[],
  before: Readonly<Record<Sign, number>>,
  enough: number,
): Record<Sign, number> {
  const weights: Record<Sign, number> = { ...before };
  for (let step = 0; step < STEPS; step += 1) {
    const slope = new Map<Sign, number>();
    for (const example of examples) {
      for (const { signs, isTruth, share } of sharesOf(example, weights, enough)) {
        for (const sign of signs) slope.set(sign, (slope.get(sign) ?? 0) + Number(isTruth) - share);
      }
    }
    for (const sign of signsIn(weights)) {
      const held = HELD * examples.length * (before[sign] - weights[sign]);
      weights[sign] += (STEP_SIZE * ((slope.get(sign) ?? 0) + held)) / Math.sqrt(examples.length);
    }
  }
  for (const sign of signsIn(weights)) weights[sign] = Math.round(weights[sign] * 10) / 10;
  return weights;
}

function signsIn<Sign extends string>(weights: Readonly<Record<Sign, number>>): Sign[] {
  return Object.keys(weights).filter((sign): sign is Sign => sign in weights);
}

/** The controls of a page with their share of the belief; `none of them` has the rest. */
function sharesOf<Sign extends string>(
  { candidates }: Example<Sign>,
  weights: Readonly<Record<Sign, number>>,
  enough: number,
) {
  const rated = candidates.map((each) => ({
    ...each,
    power: Math.exp(each.signs.reduce((sum, sign) => sum + weights[sign], 0)),
  }));
  const whole = rated.reduce((sum, { power }) => sum + power, Math.exp(enough));
  return rated.map((each) => ({ ...each, share: each.power / whole }));
}

/** How surprised the weights are by the truth, on average; 0 is never. */
function lossOf<Sign extends string>(
  examples: readonly Example<Sign>[],
  weights: Readonly<Record<Sign, number>>,
  enough: number,
): number {
  const losses = examples.map((example) => {
    const shares = sharesOf(example, weights, enough);
    const none = 1 - shares.reduce((sum, { share }) => sum + share, 0);
    return -Math.log(Math.max(shares.find(({ isTruth }) => isTruth)?.share ?? none, 1e-9));
  });
  return losses.reduce((sum, loss) => sum + loss, 0) / losses.length;
}
