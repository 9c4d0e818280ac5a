import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Secret, TOTP } from 'otpauth';
import type { Application } from './application.ts';
import { goProgram, npmPackages, run, startServer } from './server-process.ts';

const ADMIN = { identifier: 'admin', password: 'Correct-horse-battery-9' };
const BY_MAIL = { identifier: 'admin@example.test', password: ADMIN.password };
const TOTP_SECRET = Secret.fromUTF8('holdfast-bench-totp3').base32;

const nodeRed: Application = {
  name: 'Node-RED',
  madeOf: 'jQuery UI; a dialog over the editor, the session is a token in localStorage',
  installedAs: 'node-red',
  install: (folder) => npmPackages(folder, ['node-red@4', 'bcryptjs@2']),
  start: async ({ folder, data, port }) => {
    await mkdir(data, { recursive: true });
    const settings = join(data, 'settings.js');
    const modules = join(folder, 'node_modules');
    await writeFile(
      settings,
      `const password = require('${join(modules, 'bcryptjs')}').hashSync('${ADMIN.password}', 8);
module.exports = { flowFile: 'flows.json', uiHost: '127.0.0.1', adminAuth: { type: 'credentials', users: [{ username: '${ADMIN.identifier}', password, permissions: '*' }] }, externalModules: { palette: { allowInstall: false } }, editorTheme: { tours: false }, telemetry: { enabled: false } };
`,
    );
    const url = `http://localhost:${port}`;
    const args = [join(modules, 'node-red', 'red.js'), '--userDir', data, '--settings', settings, '-p', String(port)];
    const serve = () => startServer('node', args, url);
    let server = await serve();
    return {
      domain: `localhost:${port}`,
      account: ADMIN,
      endSessions: async () => {
        await server.stop();
        await rm(join(data, '.sessions.json'), { force: true });
        server = await serve();
      },
      byHand: async (page) => {
        await page.goto(url);
        await page.fill('#node-dialog-login-username', ADMIN.identifier);
        await page.fill('#node-dialog-login-password', ADMIN.password);
        await page.click('#node-dialog-login-submit');
        await page.waitForSelector('#red-ui-header-button-user');
      },
      stop: () => server.stop(),
    };
  },
};

const parseDashboard: Application = {
  name: 'Parse Dashboard with an authenticator',
  madeOf: 'Express, React; the code joins the filled form after a refusal',
  installedAs: 'parse-dashboard',
  install: (folder) => npmPackages(folder, ['parse-dashboard@6']),
  start: async ({ folder, data, port }) => {
    await mkdir(data, { recursive: true });
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
    const url = `http://localhost:${port}`;
    const program = join(folder, 'node_modules', '.bin', 'parse-dashboard');
    const serve = (secret: string) =>
      startServer(
        program,
        [
          '--config',
          config,
          '--host',
          '127.0.0.1',
          '--port',
          String(port),
          '--allowInsecureHTTP',
          '1',
          '--cookieSessionSecret',
          secret,
        ],
        `${url}/login`,
      );
    let server = await serve('a'.repeat(40));
    return {
      domain: `localhost:${port}`,
      loginUrl: `${url}/`,
      account: { ...ADMIN, totpSecret: TOTP_SECRET },
      endSessions: async () => {
        await server.stop();
        server = await serve('b'.repeat(40));
      },
      byHand: async (page) => {
        await page.goto(url);
        await page.fill('input[name=username]', ADMIN.identifier);
        await page.fill('input[name=password]', ADMIN.password);
        await page.click('input[type=submit]');
        await page.waitForSelector('input[name=otpCode]');
        await page.fill('input[name=username]', ADMIN.identifier);
        await page.fill('input[name=password]', ADMIN.password);
        await page.fill('input[name=otpCode]', new TOTP({ secret: TOTP_SECRET }).generate());
        // The sixth digit sends it.
        await page.waitForURL(/\/apps/);
      },
      stop: () => server.stop(),
    };
  },
};

const pocketBase: Application = {
  name: 'PocketBase',
  madeOf: 'Go, Svelte; the session is a token in localStorage',
  installedAs: 'pocketbase',
  install: (folder) => goProgram(folder, 'github.com/pocketbase/pocketbase/examples/base@v0.36.8'),
  start: async ({ folder, data, port }) => {
    const program = join(folder, 'base');
    const setPassword = () =>
      run(program, ['superuser', 'upsert', BY_MAIL.identifier, BY_MAIL.password, '--dir', data]);
    await setPassword();
    const url = `http://localhost:${port}`;
    const server = await startServer(program, ['serve', '--http', `127.0.0.1:${port}`, '--dir', data], `${url}/_/`);
    return {
      domain: `localhost:${port}`,
      loginUrl: `${url}/_/`,
      account: BY_MAIL,
      // A password that is set, be it the same one, makes all tokens before it worthless.
      endSessions: async () => {
        await setPassword();
      },
      byHand: async (page) => {
        await page.goto(`${url}/_/`);
        await page.fill('input[type=email]', BY_MAIL.identifier);
        await page.fill('input[type=password]', BY_MAIL.password);
        await page.click('button[type=submit]');
        await page.waitForSelector('.app-sidebar');
      },
      stop: () => server.stop(),
    };
  },
};

/** Consoles whose pages a client renders; what they keep of a session is in the page's own storage or in a cookie. */
export const ADMIN_CONSOLES: readonly Application[] = [nodeRed, parseDashboard, pocketBase];
