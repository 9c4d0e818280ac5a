import { testManySessions } from './many-sessions.ts';

testManySessions({ first: 5, more: 10 });
