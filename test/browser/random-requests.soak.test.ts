import { testRandomRequests } from './random-requests.ts';

testRandomRequests(10_000);
