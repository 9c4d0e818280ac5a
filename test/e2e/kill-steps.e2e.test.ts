import { testKills } from './kill-steps.ts';

/** Where most would be lost: an answer that was typed, and everything at once. `kill-steps.soak.test.ts` kills the rest. */
testKills({
  looking: [],
  awaiting: ['chromium'],
  typing: ['worker'],
  pressed: ['browser'],
  checking: [],
  invoking: ['worker'],
  everything: ['supervisor'],
});
