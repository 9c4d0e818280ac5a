import { testCanaries } from './canary-data.ts';

/** A few hundred keys; `canary-data.soak.test.ts` types four thousand, which take a browser most of a minute. */
testCanaries({ longPasswordBytes: 192, everyProfile: false });
