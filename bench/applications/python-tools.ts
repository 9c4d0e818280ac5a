import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Application } from './application.ts';
import { fillLoginForm } from './login-by-hand.ts';
import { executeSql, optionArguments, pythonPackages, run, startRestartable, startServer } from './server-process.ts';

const ADA = { identifier: 'ada', password: 'Correct-horse-battery-9' };

const datasette: Application = {
  name: 'Datasette',
  builtWith: 'ASGI, datasette-auth-passwords, its own templates; anonymous visitors see "Forbidden" and no login link',
  installedAs: 'datasette',
  install: (folder) => pythonPackages(folder, ['datasette', 'datasette-auth-passwords', 'setuptools<81']),
  start: async ({ folder, data, port, url }) => {
    const hash = `from datasette_auth_passwords.utils import hash_password; print(hash_password('${ADA.password}'))`;
    const users = {
      ada_password_hash: (await run(join(folder, 'bin', 'python'), ['-c', hash])).trim(),
      actors: { ada: { id: ADA.identifier, name: 'Ada' } },
    };
    const settings = { plugins: { 'datasette-auth-passwords': users }, allow: { id: ADA.identifier } };
    await writeFile(join(data, 'metadata.json'), JSON.stringify(settings));
    const args = ['serve', '--memory', '--port', String(port), '--metadata', join(data, 'metadata.json')];
    const serve = (secret: string) =>
      startServer(join(folder, 'bin', 'datasette'), [...args, '--secret', secret], `${url}/-/login`);
    const server = await startRestartable(serve);
    return {
      ...server,
      loginUrl: `${url}/-/login`,
      account: ADA,
      byHand: async (page) => {
        await fillLoginForm(page, `${url}/-/login`, ADA, [
          'input[name=username]',
          'input[name=password]',
          'input[type=submit]',
        ]);
        await page.waitForSelector('form[action*="logout"]', { state: 'attached' });
      },
    };
  },
};

const PANEL_PROGRAM = `import panel as pn
pn.extension()
pn.Column('# Measurements', pn.widgets.TextInput(name='Text'), pn.widgets.Button(name='Run')).servable()
`;

const panel: Application = {
  name: 'Panel',
  builtWith: 'Tornado, Bokeh; the application rendered over a websocket, without a user name or logout link',
  installedAs: 'panel',
  install: (folder) => pythonPackages(folder, ['panel==1.*']),
  start: async ({ folder, data, port, url }) => {
    const [program, users] = [join(data, 'program.py'), join(data, 'users.json')];
    await writeFile(program, PANEL_PROGRAM);
    await writeFile(users, JSON.stringify({ [ADA.identifier]: ADA.password }));
    const settings = {
      address: '127.0.0.1',
      port: String(port),
      'basic-auth': users,
      'allow-websocket-origin': `localhost:${port}`,
    };
    const args = optionArguments(settings);
    const serve = (secret: string) =>
      startServer(join(folder, 'bin', 'panel'), ['serve', program, ...args, '--cookie-secret', secret], `${url}/`);
    const server = await startRestartable(serve);
    return {
      ...server,
      account: ADA,
      byHand: async (page) => {
        await fillLoginForm(page, url, ADA, ['input[name=username]', 'input[name=password]']);
        await page.getByText('Measurements').first().waitFor();
      },
    };
  },
};

const trac: Application = {
  name: 'Trac',
  builtWith: 'WSGI, Jinja, jQuery UI, TracAccountManager; a public wiki, the form behind a link in its menu',
  installedAs: 'trac',
  install: (folder) => pythonPackages(folder, ['Trac==1.6.*', 'TracAccountManager', 'setuptools<81']),
  start: async ({ folder, data, port, url }) => {
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
    const args = ['--single-env', '--hostname', '127.0.0.1', '--port', String(port), place];
    const server = await startServer(join(folder, 'bin', 'tracd'), args, url);
    return {
      ...server,
      account: ADA,
      endSessions: () => executeSql(join(place, 'db', 'trac.db'), 'delete from auth_cookie'),
      byHand: async (page) => {
        await fillLoginForm(page, `${url}/login`, ADA, [
          '#username',
          'input[name=password]',
          '#acctmgr_loginform input[type=submit]',
        ]);
        await page.getByText('logged in as').waitFor();
      },
    };
  },
};

const ADMIN = { identifier: 'admin', password: 'Correct-horse-battery-9' };

const airflow: Application = {
  name: 'Airflow',
  builtWith: 'FastAPI, React, Chakra UI; a different application behind the one that logs in',
  installedAs: 'airflow',
  install: (folder) => pythonPackages(folder, ['apache-airflow==3.*']),
  start: async ({ folder, data, port, url }) => {
    const program = join(folder, 'bin', 'airflow');
    const passwords = join(data, 'passwords.json');
    await writeFile(passwords, JSON.stringify({ [ADMIN.identifier]: ADMIN.password }));
    const env = (secret: string): NodeJS.ProcessEnv => ({
      AIRFLOW_HOME: data,
      AIRFLOW__CORE__LOAD_EXAMPLES: 'False',
      AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_USERS: `${ADMIN.identifier}:admin`,
      AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_PASSWORDS_FILE: passwords,
      AIRFLOW__API__BASE_URL: url,
      AIRFLOW__API_AUTH__JWT_SECRET: secret,
      AIRFLOW__API__SECRET_KEY: secret,
    });
    await run(program, ['db', 'migrate'], { env: env('a'.repeat(64)), cwd: data });
    const args = ['api-server', '--host', '127.0.0.1', '--port', String(port), '--workers', '1'];
    const serve = (secret: string) => startServer(program, args, `${url}/auth/login`, { env: env(secret), cwd: data });
    const server = await startRestartable(serve);
    return {
      ...server,
      account: ADMIN,
      byHand: async (page) => {
        await fillLoginForm(page, url, ADMIN, ['[name=username]', '[name=password]', 'button[type=submit]']);
        await page.waitForSelector('text=/^Dags$/');
      },
    };
  },
};

const rdiffweb: Application = {
  name: 'Rdiffweb',
  builtWith: 'CherryPy, Bootstrap 5; a refusal styled as an info message',
  installedAs: 'rdiffweb',
  install: async (folder) => {
    await pythonPackages(folder, ['rdiffweb']);
    // It does not start without the program that makes backups, which is never called here.
    await writeFile(join(folder, 'bin', 'rdiff-backup'), '#!/bin/sh\n', { mode: 0o755 });
  },
  start: async ({ folder, data, port, url }) => {
    const [bin, database] = [join(folder, 'bin'), join(data, 'rdw.db')];
    const settings = { 'database-uri': database, 'server-host': '127.0.0.1', 'server-port': String(port) };
    const args = optionArguments(settings);
    const env = { PATH: `${bin}:${process.env['PATH'] ?? ''}` };
    const server = await startServer(join(bin, 'rdiffweb'), args, `${url}/login/`, { env });
    const account = { identifier: 'admin', password: 'admin123' };
    return {
      ...server,
      account,
      endSessions: () => executeSql(database, 'delete from sessions'),
      byHand: async (page) => {
        await fillLoginForm(page, url, account, ['#login', '#password', 'button[type=submit]']);
        await page.waitForSelector('[href*="logout"], [action*="logout"]', { state: 'attached' });
      },
    };
  },
};

const cherryMusic: Application = {
  name: 'CherryMusic',
  builtWith: 'CherryPy, Bootstrap 3; a refusal without a message, the application at the address of the form',
  installedAs: 'cherrymusic',
  install: (folder) => pythonPackages(folder, ['CherryMusic']),
  start: async ({ folder, data, port, url }) => {
    const music = join(data, 'music');
    await mkdir(music, { recursive: true });
    const program = join(folder, 'bin', 'cherrymusic');
    const env = { XDG_DATA_HOME: data, XDG_CONFIG_HOME: data };
    const settings = ['--conf', `media.basedir=${music}`, 'server.localhost_auto_login=false'];
    // The first start writes the configuration file and exits.
    await run(program, [], { env });
    await run(program, ['--adduser', ADA.identifier, ADA.password, ...settings], { env });
    const args = ['--port', String(port), ...settings, 'server.localhost_only=true'];
    const server = await startServer(program, args, url, { env });
    return {
      ...server,
      account: ADA,
      endSessions: async () => {
        const sessions = join(data, 'cherrymusic', 'sessions');
        for (const name of await readdir(sessions)) await rm(join(sessions, name), { force: true });
      },
      byHand: async (page) => {
        await fillLoginForm(page, url, ADA, ['input[name=username]', 'input[name=password]', 'input[type=submit]']);
        await page.waitForSelector('#logout-menu-button', { state: 'attached' });
      },
    };
  },
};

/** Tools for developers, data and files from PyPI. */
export const PYTHON_TOOLS: readonly Application[] = [datasette, panel, trac, airflow, rdiffweb, cherryMusic];
