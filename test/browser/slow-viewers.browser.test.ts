import { testSlowViewers } from './slow-viewers.ts';

testSlowViewers({ addresses: 0, dialogs: 20, switches: 16 });
