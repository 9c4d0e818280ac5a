import { testNextLogins } from './next-login.ts';

testNextLogins(12);
