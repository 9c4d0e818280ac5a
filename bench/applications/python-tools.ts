import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Application } from './application.ts';
import { pythonPackages, run, startServer } from './server-process.ts';

const ADA = { identifier: 'ada', password: 'Correct-horse-battery-9' };

const datasette: Application = {
  name: 'Datasette',
  madeOf: 'ASGI, datasette-auth-passwords, its own templates; anonymous visitors see "Forbidden" and no login link',
  installedAs: 'datasette',
  install: async (folder) => {
    await pythonPackages(folder, ['datasette', 'datasette-auth-passwords', 'setuptools<81']);
  },
  start: async ({ folder, data, port }) => {
    await mkdir(data, { recursive: true });
    const hash = `from datasette_auth_passwords.utils import hash_password; print(hash_password('${ADA.password}'))`;
    const users = {
      ada_password_hash: (await run(join(folder, 'bin', 'python'), ['-c', hash])).trim(),
      actors: { ada: { id: ADA.identifier, name: 'Ada' } },
    };
    const settings = { plugins: { 'datasette-auth-passwords': users }, allow: { id: ADA.identifier } };
    await writeFile(join(data, 'metadata.json'), JSON.stringify(settings));
    const url = `http://localhost:${port}`;
    const args = ['serve', '--memory', '--port', String(port), '--metadata', join(data, 'metadata.json')];
    const serve = (secret: string) =>
      startServer(join(folder, 'bin', 'datasette'), [...args, '--secret', secret.repeat(40)], `${url}/-/login`);
    let server = await serve('a');
    return {
      domain: `localhost:${port}`,
      loginUrl: `${url}/-/login`,
      account: ADA,
      endSessions: async () => {
        await server.stop();
        server = await serve('b');
      },
      byHand: async (page) => {
        await page.goto(`${url}/-/login`);
        await page.fill('input[name=username]', ADA.identifier);
        await page.fill('input[name=password]', ADA.password);
        await page.click('input[type=submit]');
        await page.waitForSelector('form[action*="logout"]', { state: 'attached' });
      },
      stop: () => server.stop(),
    };
  },
};

const PANEL_PROGRAM = `import panel as pn
pn.extension()
pn.Column('# Measurements', pn.widgets.TextInput(name='Text'), pn.widgets.Button(name='Run')).servable()
`;

const panel: Application = {
  name: 'Panel',
  madeOf: 'Tornado, Bokeh; the application rendered over a websocket, without a user name or logout link',
  installedAs: 'panel',
  install: async (folder) => {
    await pythonPackages(folder, ['panel==1.*']);
  },
  start: async ({ folder, data, port }) => {
    await mkdir(data, { recursive: true });
    const [program, users] = [join(data, 'program.py'), join(data, 'users.json')];
    await writeFile(program, PANEL_PROGRAM);
    await writeFile(users, JSON.stringify({ [ADA.identifier]: ADA.password }));
    const url = `http://localhost:${port}`;
    const settings = {
      address: '127.0.0.1',
      port: String(port),
      'basic-auth': users,
      'allow-websocket-origin': `localhost:${port}`,
    };
    const args = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value]);
    const serve = (secret: string) =>
      startServer(
        join(folder, 'bin', 'panel'),
        ['serve', program, ...args, '--cookie-secret', secret.repeat(40)],
        `${url}/`,
      );
    let server = await serve('a');
    return {
      domain: `localhost:${port}`,
      account: ADA,
      endSessions: async () => {
        await server.stop();
        server = await serve('b');
      },
      byHand: async (page) => {
        await page.goto(url);
        await page.fill('input[name=username]', ADA.identifier);
        await page.fill('input[name=password]', ADA.password);
        await page.keyboard.press('Enter');
        await page.getByText('Measurements').first().waitFor();
      },
      stop: () => server.stop(),
    };
  },
};

const trac: Application = {
  name: 'Trac',
  madeOf: 'WSGI, Jinja, jQuery UI, TracAccountManager; a public wiki, the form behind a link in its menu',
  installedAs: 'trac',
  install: async (folder) => {
    await pythonPackages(folder, ['Trac==1.6.*', 'TracAccountManager', 'setuptools<81']);
  },
  start: async ({ folder, data, port }) => {
    await mkdir(data, { recursive: true });
    const [place, passwords] = [join(data, 'trac'), join(data, 'htpasswd')];
    const administer = (...words: string[]) => run(join(folder, 'bin', 'trac-admin'), [place, ...words]);
    const set = (section: string, name: string, value: string) => administer('config', 'set', section, name, value);
    await administer('initenv', 'Demo', 'sqlite:db/trac.db');
    await set('components', 'trac.web.auth.LoginModule', 'disabled');
    for (const part of ['api.*', 'htfile.HtPasswdStore', 'web_ui.LoginModule', 'web_ui.AccountModule', 'pwhash.*'])
      await set('components', `acct_mgr.${part}`, 'enabled');
    await set('account-manager', 'password_store', 'HtPasswdStore');
    await set('account-manager', 'htpasswd_file', passwords);
    await set('account-manager', 'htpasswd_hash_type', 'md5');
    await administer('permission', 'add', ADA.identifier, 'TRAC_ADMIN');
    const hash = (await run('openssl', ['passwd', '-apr1', ADA.password])).trim();
    await writeFile(passwords, `${ADA.identifier}:${hash}\n`);
    const url = `http://localhost:${port}`;
    const args = ['--single-env', '--hostname', '127.0.0.1', '--port', String(port), place];
    const server = await startServer(join(folder, 'bin', 'tracd'), args, url);
    return {
      domain: `localhost:${port}`,
      account: ADA,
      endSessions: async () => {
        const sql =
          "import sqlite3,sys; c=sqlite3.connect(sys.argv[1]); c.execute('delete from auth_cookie'); c.commit()";
        await run('python3', ['-c', sql, join(place, 'db', 'trac.db')]);
      },
      byHand: async (page) => {
        await page.goto(`${url}/login`);
        await page.fill('#username', ADA.identifier);
        await page.fill('input[name=password]', ADA.password);
        await page.click('#acctmgr_loginform input[type=submit]');
        await page.getByText('logged in as').waitFor();
      },
      stop: () => server.stop(),
    };
  },
};

/** What people who write Python run beside their programs. */
export const PYTHON_TOOLS: readonly Application[] = [datasette, panel, trac];
