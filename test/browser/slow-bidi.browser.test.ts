import { testSlowBidi } from './slow-bidi.ts';

testSlowBidi({ floodMb: 70 });
