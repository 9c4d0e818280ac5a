import { testNextLogins } from './next-login.ts';

/** Enough to meet each other; `next-login.soak.test.ts` has more of them. */
testNextLogins(4);
