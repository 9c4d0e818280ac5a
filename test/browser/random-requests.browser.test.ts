import { testRandomRequests } from './random-requests.ts';

testRandomRequests(400);
