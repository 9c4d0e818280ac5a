import { testLargeFiles } from './large-files.ts';

// An archive of more than 2 GB needs other numbers in its records than a smaller one.
testLargeFiles(1040);
