import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Secret } from 'otpauth';
import type { Application } from './application.ts';
import { authenticatorCode, fillLoginForm } from './login-by-hand.ts';
import { goProgram, npmPackages, optionArguments, run, startRestartable, startServer } from './server-process.ts';

const ADMIN = { identifier: 'admin', password: 'Correct-horse-battery-9' };
const SUPERUSER = { identifier: 'admin@example.test', password: ADMIN.password };
const TOTP_SECRET = Secret.fromUTF8('holdfast-bench-totp3').base32;

const nodeRed: Application = {
  name: 'Node-RED',
  builtWith: 'jQuery UI; a dialog over the editor, the session is a token in localStorage',
  installedAs: 'node-red',
  install: (folder) => npmPackages(folder, ['node-red@4', 'bcryptjs@2']),
  start: async ({ folder, data, port, url }) => {
    const settings = join(data, 'settings.js');
    const modules = join(folder, 'node_modules');
    await writeFile(
      settings,
      `const password = require('${join(modules, 'bcryptjs')}').hashSync('${ADMIN.password}', 8);
module.exports = { flowFile: 'flows.json', uiHost: '127.0.0.1', adminAuth: { type: 'credentials', users: [{ username: '${ADMIN.identifier}', password, permissions: '*' }] }, externalModules: { palette: { allowInstall: false } }, editorTheme: { tours: false }, telemetry: { enabled: false } };
`,
    );
    const args = [join(modules, 'node-red', 'red.js'), '--userDir', data, '--settings', settings, '-p', String(port)];
    const serve = () => startServer('node', args, url);
    const server = await startRestartable(serve, () => rm(join(data, '.sessions.json'), { force: true }));
    return {
      ...server,
      account: ADMIN,
      byHand: async (page) => {
        await fillLoginForm(page, url, ADMIN, [
          '#node-dialog-login-username',
          '#node-dialog-login-password',
          '#node-dialog-login-submit',
        ]);
        await page.waitForSelector('#red-ui-header-button-user');
      },
    };
  },
};

const parseDashboard: Application = {
  name: 'Parse Dashboard with an authenticator',
  builtWith: 'Express, React; the code joins the filled form after a refusal',
  installedAs: 'parse-dashboard',
  install: (folder) => npmPackages(folder, ['parse-dashboard@6']),
  start: async ({ folder, data, port, url }) => {
    const config = join(data, 'config.json');
    await writeFile(
      config,
      JSON.stringify({
        apps: [
          { serverURL: `http://localhost:${port + 1}/parse`, appId: 'orders', masterKey: 'key', appName: 'Orders' },
        ],
        users: [{ user: ADMIN.identifier, pass: ADMIN.password, mfa: TOTP_SECRET }],
      }),
    );
    const program = join(folder, 'node_modules', '.bin', 'parse-dashboard');
    const options = { config, host: '127.0.0.1', port: String(port), allowInsecureHTTP: '1' };
    const serve = (secret: string) =>
      startServer(program, optionArguments({ ...options, cookieSessionSecret: secret }), `${url}/login`);
    const server = await startRestartable(serve);
    return {
      ...server,
      loginUrl: `${url}/`,
      account: { ...ADMIN, totpSecret: TOTP_SECRET },
      byHand: async (page) => {
        await fillLoginForm(page, url, ADMIN, ['input[name=username]', 'input[name=password]', 'input[type=submit]']);
        await page.waitForSelector('input[name=otpCode]');
        await page.fill('input[name=username]', ADMIN.identifier);
        await page.fill('input[name=password]', ADMIN.password);
        await page.fill('input[name=otpCode]', authenticatorCode(TOTP_SECRET));
        // The sixth digit submits the form.
        await page.waitForURL(/\/apps/);
      },
    };
  },
};

const pocketBase: Application = {
  name: 'PocketBase',
  builtWith: 'Go, Svelte; the session is a token in localStorage',
  installedAs: 'pocketbase',
  install: (folder) => goProgram(folder, 'github.com/pocketbase/pocketbase/examples/base@v0.36.8'),
  start: async ({ folder, data, port, url }) => {
    const program = join(folder, 'base');
    const setPassword = async (): Promise<void> => {
      await run(program, ['superuser', 'upsert', SUPERUSER.identifier, SUPERUSER.password, '--dir', data]);
    };
    await setPassword();
    const server = await startServer(program, ['serve', '--http', `127.0.0.1:${port}`, '--dir', data], `${url}/_/`);
    return {
      ...server,
      loginUrl: `${url}/_/`,
      account: SUPERUSER,
      // Setting a password, even the same one, revokes all earlier tokens.
      endSessions: setPassword,
      byHand: async (page) => {
        await fillLoginForm(page, `${url}/_/`, SUPERUSER, [
          'input[type=email]',
          'input[type=password]',
          'button[type=submit]',
        ]);
        await page.waitForSelector('.app-sidebar');
      },
    };
  },
};

/** Consoles rendered in the browser; their sessions are in the page's storage or in a cookie. */
export const ADMIN_CONSOLES: readonly Application[] = [nodeRed, parseDashboard, pocketBase];
