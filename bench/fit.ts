import type { Figure } from './figure.ts';

/** The candidate controls of one page with their signs, and which of them is right, if any. */
export interface Example<Sign extends string> {
  readonly candidates: readonly { readonly signs: readonly Sign[]; readonly isTruth: boolean }[];
  /** Whether the reader picks the right control with these weights, or none if there is none. */
  readonly isRight: (weights: Readonly<Record<Sign, number>>) => boolean;
  readonly isHeldOut: boolean;
}

/** Strength of the pull towards the initial weights, which keeps weights that the pages say nothing about. */
const REGULARIZATION = 0.02;
const STEPS = 2_000;
const STEP_SIZE = 0.02;

/**
 * Fits weights to the seen pages by gradient descent from the current weights: a softmax over the controls of a page and
 * "none of them". Prints the weights to standard error; reports seen and held-out pages before and after. `minScore`: the score
 * from which the reader picks a control.
 */
export function fitted<Sign extends string>(
  what: string,
  examples: readonly Example<Sign>[],
  before: Readonly<Record<Sign, number>>,
  minScore: number,
): Figure[] {
  const after = fit(
    examples.filter((each) => !each.isHeldOut),
    before,
    minScore,
  );
  for (const sign of signsIn(after)) process.stderr.write(`  ${sign}: ${after[sign]},\n`);
  return [false, true].map((heldOut) => {
    const part = examples.filter((each) => each.isHeldOut === heldOut);
    const right = (weights: Readonly<Record<Sign, number>>): number =>
      part.filter(({ isRight }) => isRight(weights)).length;
    const loss = (weights: Readonly<Record<Sign, number>>): string => lossOf(part, weights, minScore).toFixed(3);
    return {
      name: `${what}, ${heldOut ? 'held out' : 'seen'}`,
      value: `${right(before)} of ${part.length} before, ${right(after)} after; loss ${loss(before)} before, ${loss(after)} after`,
    };
  });
}

function fit<Sign extends string>(
  examples: readonly Example<Sign>[],
  before: Readonly<Record<Sign, number>>,
  minScore: number,
): Record<Sign, number> {
  const weights: Record<Sign, number> = { ...before };
  for (let step = 0; step < STEPS; step += 1) {
    const slope = new Map<Sign, number>();
    for (const example of examples) {
      for (const { signs, isTruth, share } of sharesOf(example, weights, minScore)) {
        for (const sign of signs) slope.set(sign, (slope.get(sign) ?? 0) + Number(isTruth) - share);
      }
    }
    for (const sign of signsIn(weights)) {
      const pull = REGULARIZATION * examples.length * (before[sign] - weights[sign]);
      weights[sign] += (STEP_SIZE * ((slope.get(sign) ?? 0) + pull)) / Math.sqrt(examples.length);
    }
  }
  for (const sign of signsIn(weights)) weights[sign] = Math.round(weights[sign] * 10) / 10;
  return weights;
}

function signsIn<Sign extends string>(weights: Readonly<Record<Sign, number>>): Sign[] {
  return Object.keys(weights).filter((sign): sign is Sign => sign in weights);
}

/** The candidates of a page with their softmax share; the rest belongs to "none of them". */
function sharesOf<Sign extends string>(
  { candidates }: Example<Sign>,
  weights: Readonly<Record<Sign, number>>,
  minScore: number,
) {
  const rated = candidates.map((each) => ({
    ...each,
    exp: Math.exp(each.signs.reduce((sum, sign) => sum + weights[sign], 0)),
  }));
  const whole = rated.reduce((sum, { exp }) => sum + exp, Math.exp(minScore));
  return rated.map((each) => ({ ...each, share: each.exp / whole }));
}

/** Mean cross-entropy of the weights. */
function lossOf<Sign extends string>(
  examples: readonly Example<Sign>[],
  weights: Readonly<Record<Sign, number>>,
  minScore: number,
): number {
  const losses = examples.map((example) => {
    const shares = sharesOf(example, weights, minScore);
    const none = 1 - shares.reduce((sum, { share }) => sum + share, 0);
    return -Math.log(Math.max(shares.find(({ isTruth }) => isTruth)?.share ?? none, 1e-9));
  });
  return losses.reduce((sum, loss) => sum + loss, 0) / losses.length;
}
