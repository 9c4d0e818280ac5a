import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { Application } from './application.ts';
import { npmPackages, startServer } from './server-process.ts';

const ADMIN = { identifier: 'admin', password: 'Correct-horse-battery-9' };

/** Long enough for a walk, short enough to be waited for. */
const VERDACCIO_SESSION_SECONDS = 45;

const verdaccio: Application = {
  name: 'Verdaccio',
  madeOf: 'React, Material UI; the form is a modal, the session a token in localStorage',
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

/** Applications from npm. */
export const NODE: readonly Application[] = [verdaccio, adminJs];
