import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { Secret, TOTP } from 'otpauth';
import type { Application } from './application.ts';
import { npmPackages, run, startServer } from './server-process.ts';

const ADMIN = { identifier: 'admin', password: 'Correct-horse-battery-9' };

/** Long enough for a walk, short enough to be waited for. */
const VERDACCIO_SESSION_SECONDS = 45;

const verdaccio: Application = {
  name: 'Verdaccio',
  madeOf: 'React, Material UI; the form is a modal, the session is a token in localStorage',
  installedAs: 'verdaccio',
  install: (folder) => npmPackages(folder, ['verdaccio@6', 'node-fetch@2']),
  start: async ({ folder, data, port }) => {
    await mkdir(data, { recursive: true });
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
    const url = `http://localhost:${port}`;
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
      domain: `localhost:${port}`,
      account: ADMIN,
      // Its tokens cannot be revoked; they run out.
      endSessions: () => wait(VERDACCIO_SESSION_SECONDS * 1000),
      byHand: async (page) => {
        await page.goto(url);
        await page.click('[data-testid="header--button-login"]');
        await page.fill('#login--dialog-username', ADMIN.identifier);
        await page.fill('#login--dialog-password', ADMIN.password);
        await page.click('#login--dialog-button-submit');
        await page.waitForSelector('#header--button-account');
      },
      stop: () => server.stop(),
    };
  },
};

const adminJs: Application = {
  name: 'AdminJS',
  madeOf: 'Express, React, styled-components',
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
  start: async ({ folder, data, port }) => {
    await mkdir(data, { recursive: true });
    const script = join(folder, 'server.mjs');
    await writeFile(
      script,
      `import AdminJS from 'adminjs';
import AdminJSExpress from '@adminjs/express';
import express from 'express';
const [port, secret] = process.argv.slice(2);
const admin = new AdminJS({ rootPath: '/admin' });
const authenticate = (email, password) => Promise.resolve(email === 'admin@example.test' && password === '${ADMIN.password}' ? { email } : null);
const router = AdminJSExpress.buildAuthenticatedRouter(admin, { authenticate, cookieName: 'adminjs', cookiePassword: secret }, null, { resave: false, saveUninitialized: false, secret });
express().use(admin.options.rootPath, router).listen(Number(port), '127.0.0.1');
`,
    );
    const url = `http://localhost:${port}`;
    const serve = (secret: string) =>
      startServer('node', [script, String(port), secret], `${url}/admin/login`, { cwd: data });
    let server = await serve('a'.repeat(40));
    return {
      domain: `localhost:${port}`,
      loginUrl: `${url}/admin`,
      account: { identifier: 'admin@example.test', password: ADMIN.password },
      endSessions: async () => {
        await server.stop();
        server = await serve('b'.repeat(40));
      },
      byHand: async (page) => {
        await page.goto(`${url}/admin`);
        await page.fill('input[name=email]', 'admin@example.test');
        await page.fill('input[name=password]', ADMIN.password);
        await page.click('button[type=submit], .adminjs_Button');
        await page.waitForSelector('[data-css=topbar], [data-css=sidebar]');
      },
      stop: () => server.stop(),
    };
  },
};

const DIRECTUS_TOTP_SECRET = Secret.fromUTF8('holdfast-bench-totp5').base32;
const GIVE_DIRECTUS_AUTHENTICATOR =
  "import sqlite3,sys; c=sqlite3.connect(sys.argv[1]); c.execute('update directus_users set tfa_secret=?', (sys.argv[2],)); c.commit()";
const END_DIRECTUS_SESSIONS =
  "import sqlite3,sys; c=sqlite3.connect(sys.argv[1]); c.execute('delete from directus_sessions'); c.commit()";

const directus: Application = {
  name: 'Directus with an authenticator',
  madeOf: 'Express, Vue; the code joins the filled form',
  installedAs: 'directus',
  install: (folder) => npmPackages(folder, ['directus@11']),
  start: async ({ folder, data, port }) => {
    await mkdir(data, { recursive: true });
    const url = `http://localhost:${port}`;
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
    await run('node', [...program, 'bootstrap'], { cwd: data, env: { ...process.env, ...env } });
    await run('python3', ['-c', GIVE_DIRECTUS_AUTHENTICATOR, database, account.totpSecret]);
    const server = await startServer('node', [...program, 'start'], `${url}/server/ping`, { cwd: data, env });
    return {
      domain: `localhost:${port}`,
      loginUrl: `${url}/admin`,
      account,
      endSessions: async () => {
        await run('python3', ['-c', END_DIRECTUS_SESSIONS, database]);
      },
      byHand: async (page) => {
        await page.goto(`${url}/admin/login`);
        await page.fill('input[type=email]', account.identifier);
        await page.fill('input[type=password]', account.password);
        await page.click('button[type=submit]');
        await page.fill(
          'input:not([type=email]):not([type=password])',
          new TOTP({ secret: account.totpSecret }).generate(),
        );
        await page.click('button[type=submit]');
        await page.waitForSelector('#main-content');
      },
      stop: () => server.stop(),
    };
  },
};

/** Applications from npm. */
export const NODE: readonly Application[] = [verdaccio, adminJs, directus];
