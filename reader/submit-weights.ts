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
  leadsAway: -6,
  leadsAwayAsButton: -3,
  isButton: 1,
  isNoButton: -1,
  saysNothing: -2,
  isAside: -6,
  searches: -6,
  isOtherWay: -6,
  signsUp: -6,
};
