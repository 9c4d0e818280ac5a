import { testSlowViewers } from './slow-viewers.ts';

testSlowViewers({ changes: 30, switches: 30 });
