import { startBrowserService } from '../../browser/service.ts';
import { PUBLIC_ONLY } from '../../egress/policy.ts';
import { API_KEY, memoryProfiles } from './memory-profiles.ts';

/** A service in a process of its own, with one session, for tests that kill it. */
const [workDir = '', chromiumPath = ''] = process.argv.slice(2);
const quiet = (): void => undefined;
const { url } = await startBrowserService({
  port: 0,
  apiKey: API_KEY,
  chromiumPath,
  workDir,
  maxSessions: 2,
  warmBrowsers: 0,
  policy: PUBLIC_ONLY,
  profiles: memoryProfiles(),
  logger: { info: quiet, warn: quiet, error: quiet },
});
await fetch(`${url}/browsers`, { method: 'POST', headers: { authorization: `Bearer ${API_KEY}` } });
process.stdout.write('ready\n');
