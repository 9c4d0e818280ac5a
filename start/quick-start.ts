import { join } from 'node:path';
import { SANDBOX_USERS } from '../sandbox/site.ts';
import { localBaseUrl } from './backends.ts';
import type { Keys } from './keys.ts';
import type { Settings } from './settings.ts';

/**
 * The output of `npm start` when everything is ready: addresses, key, test users, and commands to paste. If the key was revoked
 * or rotated through the API (`isKeyAccepted` is false), it says how to get another one instead. `signInLink` is set until an
 * owner can sign in to the console by other means.
 */
export function quickStart(
  settings: Settings,
  keys: Keys,
  isKeyAccepted = true,
  signInLink: string | null = null,
): string {
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
    `  API key      ${isKeyAccepted ? keys.apiKey : 'revoked or rotated (see below)'}`,
    ...(settings.externalTemporal ? [] : [`  Temporal UI  http://localhost:${settings.ports.temporalUi}`]),
    `  Data         ${settings.dataDir} (logs in logs/)`,
    `  Console      ${base}/console`,
    ...(signInLink === null
      ? []
      : ['', '  Sign in to the console (works once, within the hour):', `    ${signInLink}`]),
  ];
  if (settings.sandbox) {
    lines.push(`  Sandbox      ${sandbox}`, '', '  Test users of the sandbox (public):');
    for (const user of SANDBOX_USERS) {
      lines.push(`    ${user.username.padEnd(6)} ${user.password.padEnd(24)} ${sandbox}${user.loginPath}`);
    }
  }
  if (!isKeyAccepted) {
    const another =
      settings.apiKey === undefined
        ? `remove ${join(settings.dataDir, 'keys', 'api.key')} and start again`
        : 'set HOLDFAST_API_KEY to another one and start again';
    lines.push(
      '',
      `  The API rejects this installation's own key. Use another key that you created, or ${another}.`,
      '',
    );
    return lines.join('\n');
  }
  lines.push(
    '',
    '  Log in once with curl (then open the hosted_url it prints):',
    '',
    `    export KEY='${keys.apiKey}' BASE='${base}'`,
    `    ID=$(curl -s "$BASE/auth/connections" -H "Authorization: Bearer $KEY" -H 'Content-Type: application/json' \\`,
    `      -d '{"profile_name":"demo","domain":"${domain}"${address}}' | sed -E 's/.*"id":"([^"]+)".*/\\1/')`,
    '    curl -s -X POST "$BASE/auth/connections/$ID/login" -H "Authorization: Bearer $KEY"',
    '',
    '  Or with the SDK (npm install @onkernel/sdk):',
    '',
    "    import Kernel from '@onkernel/sdk';",
    `    const kernel = new Kernel({ apiKey: '${keys.apiKey}', baseURL: '${base}' });`,
    `    const auth = await kernel.auth.connections.create({ profile_name: 'demo', domain: '${domain}'${sdkAddress} });`,
    '    console.log((await kernel.auth.connections.login(auth.id)).hosted_url);',
    '',
    '  Ctrl-C stops everything; `npm start` continues where it left off.',
    '',
  );
  return lines.join('\n');
}

/** The output of `npm run browser` with its own store. */
export function standaloneBrowserQuickStart(settings: Settings, keys: Keys): string {
  const base = localBaseUrl(settings.host, settings.ports.browser);
  return [
    '',
    'The browser service is ready.',
    '',
    `  Base URL     ${base}`,
    `  API key      ${keys.browserApiKey}`,
    `  Data         ${settings.dataDir} (logs in logs/)`,
    '',
    '  Open a browser with the SDK (npm install @onkernel/sdk playwright-core):',
    '',
    "    import Kernel from '@onkernel/sdk';",
    "    import { chromium } from 'playwright-core';",
    `    const kernel = new Kernel({ apiKey: '${keys.browserApiKey}', baseURL: '${base}' });`,
    "    const session = await kernel.browsers.create({ start_url: 'https://example.com' });",
    '    const browser = await chromium.connectOverCDP(session.cdp_ws_url);',
    '',
    '  Ctrl-C stops it.',
    '',
  ].join('\n');
}
