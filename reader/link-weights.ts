/** What speaks for or against a control that may lead to a login. */
export type LinkSign = keyof typeof LINK_WEIGHTS;

/** Points by which controls are told apart. */
export type LinkWeights = Readonly<Record<LinkSign, number>>;

/**
 * `npm run bench -- fit` fits them on the pages of test/pages whose way in is known. Its fit gets no page right that these get
 * wrong, so that they stay as they are.
 */
export const LINK_WEIGHTS = {
  saysShortly: 6,
  saysAtLength: 4,
  saysAccount: 3,
  address: 3,
  provider: -4,
  signsUp: -8,
  forgot: -8,
  article: -5,
  inHead: 1,
  inFooter: -1,
  inConsent: -10,
  inText: -1,
  unseen: -3,
  settings: -6,
  topic: -3,
  runsScript: -1,
};
