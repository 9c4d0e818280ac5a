import { testManySessions } from './many-sessions.ts';

testManySessions({ first: 40, more: 160 });
