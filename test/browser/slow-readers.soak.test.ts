import { testSlowReaders } from './slow-readers.ts';

testSlowReaders({ floodMb: 1000, answersMb: 200 });
