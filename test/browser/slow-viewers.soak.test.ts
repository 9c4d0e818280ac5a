import { testSlowViewers } from './slow-viewers.ts';

testSlowViewers({ addresses: 200, dialogs: 200, switches: 400 });
