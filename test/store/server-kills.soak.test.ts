import { testKills } from './server-kills.ts';

testKills(Array.from({ length: 12 }, (_, count) => (count % 2 === 0 ? 'server' : 'tree')));
