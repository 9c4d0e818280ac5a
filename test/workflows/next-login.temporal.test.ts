import { testNextLogins } from './next-login.ts';

/** Enough for them to collide; `next-login.soak.test.ts` uses more. */
testNextLogins(4);
