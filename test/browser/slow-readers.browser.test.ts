import { testSlowReaders } from './slow-readers.ts';

testSlowReaders({ floodMb: 30, answersMb: 120 });
