import { testLargeFiles } from './large-files.ts';

testLargeFiles(150);
