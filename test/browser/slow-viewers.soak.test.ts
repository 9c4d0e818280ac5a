import { testSlowViewers } from './slow-viewers.ts';

testSlowViewers({ dialogs: 200, switches: 400 });
