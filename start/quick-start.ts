import { SANDBOX_USERS } from '../sandbox/site.ts';
import type { Keys } from './keys.ts';
import type { Settings } from './settings.ts';

/** What `npm start` prints when all is ready: addresses, key, test users, and lines that can be pasted. */
export function quickStart(settings: Settings, keys: Keys): string {
  const base = settings.publicUrl;
  const sandbox = `http://localhost:${settings.ports.sandbox}`;
  const domain = settings.sandbox ? `localhost:${settings.ports.sandbox}` : 'example.com';
  const address = settings.sandbox ? `,"login_url":"${sandbox}/login"` : '';
  const sdkAddress = settings.sandbox ? `, login_url: '${sandbox}/login'` : '';
  const lines = [
    '',
    'Holdfast is ready.',
    '',
    `  Base URL     ${base}`,
    `  API key      ${keys.apiKey}`,
    ...(settings.externalTemporal ? [] : [`  Temporal UI  http://localhost:${settings.ports.temporalUi}`]),
    `  Data         ${settings.dataDir} (logs in logs/)`,
  ];
  if (settings.sandbox) {
    lines.push(`  Sandbox      ${sandbox}`, '', '  Test users of the sandbox (all of it is public):');
    for (const user of SANDBOX_USERS) {
      lines.push(`    ${user.username.padEnd(6)} ${user.password.padEnd(24)} ${sandbox}${user.loginPath}`);
    }
  }
  lines.push(
    '',
    '  Log in once, by curl (then open the hosted_url it prints):',
    '',
    `    export KEY='${keys.apiKey}' BASE='${base}'`,
    `    ID=$(curl -s "$BASE/auth/connections" -H "Authorization: Bearer $KEY" -H 'Content-Type: application/json' \\`,
    `      -d '{"profile_name":"demo","domain":"${domain}"${address}}' | sed -E 's/.*"id":"([^"]+)".*/\\1/')`,
    '    curl -s -X POST "$BASE/auth/connections/$ID/login" -H "Authorization: Bearer $KEY"',
    '',
    '  Or by the SDK (npm install @onkernel/sdk):',
    '',
    "    import Kernel from '@onkernel/sdk';",
    `    const kernel = new Kernel({ apiKey: '${keys.apiKey}', baseURL: '${base}' });`,
    `    const auth = await kernel.auth.connections.create({ profile_name: 'demo', domain: '${domain}'${sdkAddress} });`,
    '    console.log((await kernel.auth.connections.login(auth.id)).hosted_url);',
    '',
    '  Ctrl-C stops everything; `npm start` goes on where it was.',
    '',
  );
  return lines.join('\n');
}
