import { testCanaries } from './canary-data.ts';

testCanaries({ longPasswordBytes: 3072, everyProfile: true });
