import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { Secret } from 'otpauth';
import type { Application } from './application.ts';
import { authenticatorCode, fillLoginForm } from './login-by-hand.ts';
import { executeSql, npmPackages, run, startRestartable, startServer } from './server-process.ts';

const ADMIN = { identifier: 'admin', password: 'Correct-horse-battery-9' };

/** Longer than the logins and checks before it, short enough to wait for. */
const VERDACCIO_SESSION_SECONDS = 45;

const verdaccio: Application = {
  name: 'Verdaccio',
  builtWith: 'React, Material UI; the form is a modal, the session is a token in localStorage',
  installedAs: 'verdaccio',
  install: (folder) => npmPackages(folder, ['verdaccio@6', 'node-fetch@2']),
  start: async ({ folder, data, port, url }) => {
    const config = join(data, 'config.yaml');
    await writeFile(
      config,
      [
        'storage: ./storage',
        'auth: { htpasswd: { file: ./htpasswd } }',
        `security: { web: { sign: { expiresIn: ${VERDACCIO_SESSION_SECONDS}s } } }`,
        "packages: { '**': { access: $all } }",
      ].join('\n'),
    );
    const server = await startServer(
      join(folder, 'node_modules', '.bin', 'verdaccio'),
      ['--config', config, '--listen', `127.0.0.1:${port}`],
      url,
      { cwd: data },
    );
    await fetch(`${url}/-/user/org.couchdb.user:${ADMIN.identifier}`, {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ name: ADMIN.identifier, password: ADMIN.password }),
    });
    return {
      ...server,
      account: ADMIN,
      // Its tokens cannot be revoked; they expire.
      endSessions: () => wait(VERDACCIO_SESSION_SECONDS * 1000),
      byHand: async (page) => {
        await page.goto(url);
        await page.click('[data-testid="header--button-login"]');
        await page.fill('#login--dialog-username', ADMIN.identifier);
        await page.fill('#login--dialog-password', ADMIN.password);
        await page.click('#login--dialog-button-submit');
        await page.waitForSelector('#header--button-account');
      },
    };
  },
};

const adminJs: Application = {
  name: 'AdminJS',
  builtWith: 'Express, React, styled-components',
  installedAs: 'adminjs',
  install: (folder) =>
    npmPackages(folder, [
      'adminjs@7',
      '@adminjs/express@6',
      'express@4',
      'express-session@1',
      'express-formidable@1',
      'tslib@2',
    ]),
  start: async ({ folder, data, port, url }) => {
    const script = join(folder, 'server.mjs');
    const account = { identifier: 'admin@example.test', password: ADMIN.password };
    await writeFile(
      script,
      `import AdminJS from 'adminjs';
import AdminJSExpress from '@adminjs/express';
import express from 'express';
const [port, secret] = process.argv.slice(2);
const admin = new AdminJS({ rootPath: '/admin' });
const authenticate = (email, password) => Promise.resolve(email === '${account.identifier}' && password === '${account.password}' ? { email } : null);
const router = AdminJSExpress.buildAuthenticatedRouter(admin, { authenticate, cookieName: 'adminjs', cookiePassword: secret }, null, { resave: false, saveUninitialized: false, secret });
express().use(admin.options.rootPath, router).listen(Number(port), '127.0.0.1');
`,
    );
    const serve = (secret: string) =>
      startServer('node', [script, String(port), secret], `${url}/admin/login`, { cwd: data });
    const server = await startRestartable(serve);
    return {
      ...server,
      loginUrl: `${url}/admin`,
      account,
      byHand: async (page) => {
        const button = 'button[type=submit], .adminjs_Button';
        await fillLoginForm(page, `${url}/admin`, account, ['input[name=email]', 'input[name=password]', button]);
        await page.waitForSelector('[data-css=topbar], [data-css=sidebar]');
      },
    };
  },
};

const DIRECTUS_TOTP_SECRET = Secret.fromUTF8('holdfast-bench-totp5').base32;

const directus: Application = {
  name: 'Directus with an authenticator',
  builtWith: 'Express, Vue; the code joins the filled form',
  installedAs: 'directus',
  install: (folder) => npmPackages(folder, ['directus@11']),
  start: async ({ folder, data, port, url }) => {
    const account = {
      identifier: 'admin@example.com',
      password: ADMIN.password,
      totpSecret: DIRECTUS_TOTP_SECRET,
    };
    const database = join(data, 'data.db');
    const env = {
      HOST: '127.0.0.1',
      PORT: String(port),
      PUBLIC_URL: url,
      SECRET: 'a'.repeat(40),
      DB_CLIENT: 'sqlite3',
      DB_FILENAME: database,
      ADMIN_EMAIL: account.identifier,
      ADMIN_PASSWORD: account.password,
      TELEMETRY: 'false',
    };
    const program = ['--no-node-snapshot', join(folder, 'node_modules', 'directus', 'cli.js')];
    await run('node', [...program, 'bootstrap'], { cwd: data, env });
    await executeSql(database, 'update directus_users set tfa_secret=?', [account.totpSecret]);
    const server = await startServer('node', [...program, 'start'], `${url}/server/ping`, { cwd: data, env });
    return {
      ...server,
      loginUrl: `${url}/admin`,
      account,
      endSessions: () => executeSql(database, 'delete from directus_sessions'),
      byHand: async (page) => {
        await fillLoginForm(page, `${url}/admin/login`, account, [
          'input[type=email]',
          'input[type=password]',
          'button[type=submit]',
        ]);
        await page.fill('input:not([type=email]):not([type=password])', authenticatorCode(account.totpSecret));
        await page.click('button[type=submit]');
        await page.waitForSelector('#main-content');
      },
    };
  },
};

const ungit: Application = {
  name: 'Ungit',
  builtWith: "Express, Knockout, Bootstrap 3; the form rendered after a server request, at the application's address",
  installedAs: 'ungit',
  install: (folder) => npmPackages(folder, ['ungit@1.5.30']),
  start: async ({ folder, data, port, url }) => {
    const account = { identifier: 'ada', password: ADMIN.password };
    const repository = join(data, 'repository');
    await mkdir(repository, { recursive: true });
    const settings = {
      port,
      ungitBindIp: '127.0.0.1',
      authentication: true,
      users: { [account.identifier]: account.password },
      launchBrowser: false,
      bugtracking: false,
    };
    // It reads its settings from the home folder.
    await writeFile(join(data, '.ungitrc'), JSON.stringify(settings));
    const program = join(folder, 'node_modules', 'ungit', 'bin', 'ungit');
    const serve = () => startServer('node', [program], url, { cwd: repository, env: { HOME: data } });
    // Sessions are in memory.
    const server = await startRestartable(serve);
    return {
      ...server,
      account,
      byHand: async (page) => {
        await fillLoginForm(page, url, account, ['#inputUsername', '#inputPassword']);
        await page.waitForSelector('#inputPassword', { state: 'detached' });
      },
    };
  },
};

const sillyTavern: Application = {
  name: 'SillyTavern',
  builtWith: 'Express, jQuery; fields outside any form, an application page of several megabytes',
  installedAs: 'sillytavern',
  install: (folder) => npmPackages(folder, ['sillytavern@1']),
  start: async ({ folder, data, port, url }) => {
    const program = join(folder, 'node_modules', 'sillytavern');
    const config = join(data, 'config.yaml');
    const state = join(data, 'state');
    const settings = [
      `dataRoot: ${state}`,
      'listen: false',
      'enableUserAccounts: true',
      'enableDiscreetLogin: true',
      'browserLaunch: { enabled: false }',
    ];
    await writeFile(config, settings.join('\n'));
    const args = [join(program, 'server.js'), '--configPath', config, '--dataRoot', state, '--port', String(port)];
    const serve = () => startServer('node', args, url, { cwd: data });
    // The first start creates the only user; its script then sets the password.
    await (await serve()).stop();
    await run('node', [join(program, 'recover.js'), 'default-user', ADMIN.password], { cwd: data });
    // The session is a signed cookie.
    const server = await startRestartable(serve, () => rm(join(state, 'cookie-secret.txt')));
    const account = { identifier: 'default-user', password: ADMIN.password };
    return {
      ...server,
      account,
      byHand: async (page) => {
        await fillLoginForm(page, url, account, ['#userHandle', '#userPassword', '#loginButton']);
        await page.waitForSelector('#send_textarea');
      },
    };
  },
};

/** Applications from npm. */
export const NODE: readonly Application[] = [verdaccio, adminJs, directus, ungit, sillyTavern];
