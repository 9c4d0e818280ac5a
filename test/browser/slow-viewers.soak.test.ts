import { testSlowViewers } from './slow-viewers.ts';

testSlowViewers({ addresses: 40, dialogs: 200, switches: 400 });
