import { testRandomRequests } from './random-requests.ts';

testRandomRequests(1_000);
