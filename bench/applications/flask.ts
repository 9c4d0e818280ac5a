import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Application } from './application.ts';
import { pythonPackages, run, startServer } from './server-process.ts';

const ADMIN = { identifier: 'admin', password: 'Correct-horse-battery-9' };

const octoprint: Application = {
  name: 'OctoPrint',
  madeOf: 'Flask-Login, Knockout, Bootstrap 2',
  installedAs: 'octoprint',
  install: async (folder) => {
    await pythonPackages(folder, ['octoprint', 'setuptools<81']);
  },
  start: async ({ folder, data, port }) => {
    const program = join(folder, 'bin', 'octoprint');
    const base = ['--basedir', data];
    const config = (key: string): string =>
      `accessControl:\n  salt: salt\nserver:\n  firstRun: false\n  onlineCheck:\n    enabled: false\n  pluginBlacklist:\n    enabled: false\n  seenWizards:\n    corewizard: 5\n    backup: 1\n    tracking: 1\n  secretKey: ${key}\nplugins:\n  tracking:\n    enabled: false\n  softwareupdate:\n    ignored: true\n`;
    await mkdir(data, { recursive: true });
    await writeFile(join(data, 'config.yaml'), config('a'.repeat(32)));
    await run(program, [...base, 'user', 'add', ADMIN.identifier, '--password', ADMIN.password, '--admin']);
    const url = `http://localhost:${port}`;
    const serve = () =>
      startServer(
        program,
        [...base, 'serve', '--iknowwhatimdoing', '--host', '127.0.0.1', '--port', String(port)],
        `${url}/api/version`,
      );
    let server = await serve();
    return {
      domain: `localhost:${port}`,
      loginUrl: `${url}/`,
      account: ADMIN,
      endSessions: async () => {
        await server.stop();
        await rm(join(data, 'sessions'), { recursive: true, force: true });
        await run('sed', ['-i', `s/secretKey: .*/secretKey: ${'b'.repeat(32)}/`, join(data, 'config.yaml')]);
        server = await serve();
      },
      byHand: async (page) => {
        await page.goto(`${url}/`);
        await page.fill('#login-user', ADMIN.identifier);
        await page.fill('#login-password', ADMIN.password);
        await page.click('#login-button');
        await page.waitForSelector('#navbar_login >> visible=true');
      },
      stop: () => server.stop(),
    };
  },
};

const calibreWeb: Application = {
  name: 'Calibre-Web',
  madeOf: 'Flask, Bootstrap 3',
  installedAs: 'calibre-web',
  install: async (folder) => {
    await pythonPackages(folder, ['calibreweb', 'setuptools<81']);
  },
  start: async ({ folder, data, port }) => {
    await mkdir(data, { recursive: true });
    const url = `http://localhost:${port}`;
    const program = join(folder, 'bin', 'cps');
    const env = { CALIBRE_PORT: String(port), CALIBRE_DBPATH: data };
    const server = await startServer(program, ['-p', join(data, 'app.db'), '-i', '127.0.0.1'], `${url}/login`, { env });
    const endSessions = async (): Promise<void> => {
      const sql =
        "import sqlite3,sys; c=sqlite3.connect(sys.argv[1]); c.execute('delete from user_session'); c.commit()";
      await run('python3', ['-c', sql, join(data, 'app.db')]);
    };
    return {
      domain: `localhost:${port}`,
      loginUrl: `${url}/login`,
      account: { identifier: 'admin', password: 'admin123' },
      endSessions,
      byHand: async (page) => {
        await page.goto(`${url}/login`);
        await page.fill('#username', 'admin');
        await page.fill('#password', 'admin123');
        await page.click('button[name=submit]');
        await page.waitForSelector('#logout', { state: 'attached' });
      },
      stop: () => server.stop(),
    };
  },
};

const changeDetection: Application = {
  name: 'changedetection.io',
  madeOf: 'Flask, password only, Pure CSS',
  installedAs: 'changedetection',
  install: async (folder) => {
    await pythonPackages(folder, ['changedetection.io']);
  },
  start: async ({ folder, data, port }) => {
    await mkdir(data, { recursive: true });
    const salted =
      "import base64,hashlib,sys; s=b'0'*32; print(base64.b64encode(s+hashlib.pbkdf2_hmac('sha256',sys.argv[1].encode(),s,100000)).decode())";
    const hash = (await run('python3', ['-c', salted, ADMIN.password])).trim();
    const url = `http://localhost:${port}`;
    const serve = () =>
      startServer(
        join(folder, 'bin', 'changedetection.io'),
        ['-d', data, '-p', String(port), '-h', '127.0.0.1'],
        `${url}/login`,
        {
          env: { SALTED_PASS: hash, DISABLE_VERSION_CHECK: 'true' },
        },
      );
    let server = await serve();
    return {
      domain: `localhost:${port}`,
      loginUrl: `${url}/`,
      account: ADMIN,
      endSessions: async () => {
        await server.stop();
        await rm(join(data, 'secret.txt'), { force: true });
        server = await serve();
      },
      byHand: async (page) => {
        await page.goto(`${url}/`);
        await page.fill('input[type=password]', ADMIN.password);
        await page.click('button[type=submit]');
        await page.waitForSelector('input[type=password]', { state: 'detached' });
      },
      stop: () => server.stop(),
    };
  },
};

const flaskAppBuilder: Application = {
  name: 'Flask-AppBuilder',
  madeOf: 'Flask, Bootstrap 3, Select2; a public home page',
  installedAs: 'flask-appbuilder',
  install: async (folder) => {
    await pythonPackages(folder, ['flask-appbuilder', 'setuptools<81']);
  },
  start: async ({ folder, data, port }) => {
    await mkdir(data, { recursive: true });
    const python = join(folder, 'bin', 'python');
    const site = [
      'import sys',
      'from flask import Flask',
      'from flask_appbuilder import AppBuilder',
      'from flask_appbuilder.utils.legacy import get_sqla_class',
      'app = Flask(__name__)',
      `app.config.update(SECRET_KEY=sys.argv[1], SQLALCHEMY_DATABASE_URI='sqlite:///${join(data, 'app.db')}', WTF_CSRF_ENABLED=True, FAB_API_SWAGGER_UI=False)`,
      'db = get_sqla_class()(app)',
      'with app.app_context():',
      '    builder = AppBuilder(app, db.session)',
      `    if builder.sm.find_user('${ADMIN.identifier}') is None:`,
      `        builder.sm.add_user('${ADMIN.identifier}', 'Ada', 'Archer', 'ada@example.test', builder.sm.find_role('Admin'), '${ADMIN.password}')`,
      `app.run('127.0.0.1', ${port})`,
    ];
    await writeFile(join(data, 'site.py'), site.join('\n'));
    const url = `http://localhost:${port}`;
    const serve = (secret: string) => startServer(python, ['site.py', secret], `${url}/login/`, { cwd: data });
    let server = await serve('a'.repeat(40));
    return {
      domain: `localhost:${port}`,
      account: ADMIN,
      endSessions: async () => {
        await server.stop();
        server = await serve('b'.repeat(40));
      },
      byHand: async (page) => {
        await page.goto(`${url}/login/`);
        await page.fill('#username', ADMIN.identifier);
        await page.fill('#password', ADMIN.password);
        await page.click('input[type=submit]');
        await page.waitForSelector('a[href*="/logout"]', { state: 'attached' });
      },
      stop: () => server.stop(),
    };
  },
};

/** Applications from PyPI that are built on Flask. */
export const FLASK: readonly Application[] = [octoprint, calibreWeb, changeDetection, flaskAppBuilder];
