import { testManySessions } from './many-sessions.ts';

testManySessions({ first: 8, more: 16 });
