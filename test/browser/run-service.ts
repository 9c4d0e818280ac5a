import { API_KEY } from './memory-profiles.ts';
import { startQuietService } from './quiet-service.ts';

/** A service in a separate process, with a session that runs programs, for tests that kill it. */
const [workDir = '', chromiumPath = ''] = process.argv.slice(2);
const { url } = await startQuietService({ chromiumPath, workDir, maxSessions: 2, warmBrowsers: 0 });
const headers = { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' };
const created = await fetch(`${url}/browsers`, { method: 'POST', headers });
const { session_id: id } = (await created.json()) as { session_id: string };
// Two programs, one in its own process session; their command lines contain the work folder.
const loop = 'while :; do sleep 1; done';
await fetch(`${url}/browsers/${id}/process/spawn`, {
  method: 'POST',
  headers,
  body: JSON.stringify({ command: 'sh', args: ['-c', `setsid sh -c '${loop}' "$0" & ${loop}`, workDir] }),
});
process.stdout.write('ready\n');
