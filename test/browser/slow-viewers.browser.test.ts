import { testSlowViewers } from './slow-viewers.ts';

testSlowViewers({ changes: 24, switches: 24 });
