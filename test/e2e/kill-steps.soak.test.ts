import { testKills } from './kill-steps.ts';

testKills({
  looking: ['worker', 'browser', 'temporal'],
  awaiting: ['api', 'browser', 'store', 'temporal', 'worker', 'chromium'],
  typing: ['worker'],
  pressed: ['worker', 'browser', 'store', 'temporal'],
  checking: ['worker'],
  invoking: ['worker'],
  everything: ['supervisor'],
});
