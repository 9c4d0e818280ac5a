import { startBrowserService } from '../../browser/service.ts';
import { PUBLIC_ONLY } from '../../egress/policy.ts';
import { API_KEY, memoryProfiles } from './memory-profiles.ts';

/** A service in a process of its own, with one session and programs in it, for tests that kill it. */
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
  proxies: { open: async () => ({ outcome: 'none' }) },
  logger: { info: quiet, warn: quiet, error: quiet },
});
const headers = { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' };
const created = await fetch(`${url}/browsers`, { method: 'POST', headers });
const { session_id: id } = (await created.json()) as { session_id: string };
// Two programs, one in a session of its own; their command lines name the work folder.
const loop = 'while :; do sleep 1; done';
await fetch(`${url}/browsers/${id}/process/spawn`, {
  method: 'POST',
  headers,
  body: JSON.stringify({ command: 'sh', args: ['-c', `setsid sh -c '${loop}' "$0" & ${loop}`, workDir] }),
});
process.stdout.write('ready\n');
