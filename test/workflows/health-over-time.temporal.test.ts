import { testHealthOverTime } from './health-over-time.ts';

testHealthOverTime({ weeks: 1, connections: 30, hours: 4, everyHours: 1 });
