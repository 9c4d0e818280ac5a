import { testSlowViewers } from './slow-viewers.ts';

testSlowViewers({ dialogs: 20, switches: 16 });
