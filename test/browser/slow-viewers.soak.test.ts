import { testSlowViewers } from './slow-viewers.ts';

testSlowViewers({ changes: 200, switches: 400 });
