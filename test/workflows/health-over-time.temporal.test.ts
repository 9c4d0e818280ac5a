import { testHealthOverTime } from './health-over-time.ts';

testHealthOverTime({ weeks: 2, connections: 30, hours: 4, everyHours: 1 });
