import { testHealthOverTime } from './health-over-time.ts';

testHealthOverTime({ weeks: 52, connections: 1000, hours: 24, everyHours: 6 });
