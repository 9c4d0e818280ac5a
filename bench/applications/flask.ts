import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Application } from './application.ts';
import { fillLoginForm } from './login-by-hand.ts';
import { executeSql, pythonPackages, run, startRestartable, startServer } from './server-process.ts';

const ADMIN = { identifier: 'admin', password: 'Correct-horse-battery-9' };

const octoprint: Application = {
  name: 'OctoPrint',
  builtWith: 'Flask-Login, Knockout, Bootstrap 2',
  installedAs: 'octoprint',
  install: (folder) => pythonPackages(folder, ['octoprint', 'setuptools<81']),
  start: async ({ folder, data, port, url }) => {
    const program = join(folder, 'bin', 'octoprint');
    const base = ['--basedir', data];
    const config = `accessControl:\n  salt: salt\nserver:\n  firstRun: false\n  onlineCheck:\n    enabled: false\n  pluginBlacklist:\n    enabled: false\n  seenWizards:\n    corewizard: 5\n    backup: 1\n    tracking: 1\n  secretKey: ${'a'.repeat(32)}\nplugins:\n  tracking:\n    enabled: false\n  softwareupdate:\n    ignored: true\n`;
    await writeFile(join(data, 'config.yaml'), config);
    await run(program, [...base, 'user', 'add', ADMIN.identifier, '--password', ADMIN.password, '--admin']);
    const serve = () =>
      startServer(
        program,
        [...base, 'serve', '--iknowwhatimdoing', '--host', '127.0.0.1', '--port', String(port)],
        `${url}/api/version`,
      );
    const server = await startRestartable(serve, async () => {
      await rm(join(data, 'sessions'), { recursive: true, force: true });
      await run('sed', ['-i', `s/secretKey: .*/secretKey: ${'b'.repeat(32)}/`, join(data, 'config.yaml')]);
    });
    return {
      ...server,
      loginUrl: `${url}/`,
      account: ADMIN,
      byHand: async (page) => {
        await fillLoginForm(page, `${url}/`, ADMIN, ['#login-user', '#login-password', '#login-button']);
        await page.waitForSelector('#navbar_login >> visible=true');
      },
    };
  },
};

const calibreWeb: Application = {
  name: 'Calibre-Web',
  builtWith: 'Flask, Bootstrap 3',
  installedAs: 'calibre-web',
  install: (folder) => pythonPackages(folder, ['calibreweb', 'setuptools<81']),
  start: async ({ folder, data, port, url }) => {
    const program = join(folder, 'bin', 'cps');
    const env = { CALIBRE_PORT: String(port), CALIBRE_DBPATH: data };
    const server = await startServer(program, ['-p', join(data, 'app.db'), '-i', '127.0.0.1'], `${url}/login`, { env });
    const account = { identifier: 'admin', password: 'admin123' };
    return {
      ...server,
      loginUrl: `${url}/login`,
      account,
      endSessions: () => executeSql(join(data, 'app.db'), 'delete from user_session'),
      byHand: async (page) => {
        await fillLoginForm(page, `${url}/login`, account, ['#username', '#password', 'button[name=submit]']);
        await page.waitForSelector('#logout', { state: 'attached' });
      },
    };
  },
};

const changeDetection: Application = {
  name: 'changedetection.io',
  builtWith: 'Flask, password only, Pure CSS',
  installedAs: 'changedetection',
  install: (folder) => pythonPackages(folder, ['changedetection.io']),
  start: async ({ folder, data, port, url }) => {
    const salted =
      "import base64,hashlib,sys; s=b'0'*32; print(base64.b64encode(s+hashlib.pbkdf2_hmac('sha256',sys.argv[1].encode(),s,100000)).decode())";
    const hash = (await run('python3', ['-c', salted, ADMIN.password])).trim();
    const serve = () =>
      startServer(
        join(folder, 'bin', 'changedetection.io'),
        ['-d', data, '-p', String(port), '-h', '127.0.0.1'],
        `${url}/login`,
        { env: { SALTED_PASS: hash, DISABLE_VERSION_CHECK: 'true' } },
      );
    const server = await startRestartable(serve, () => rm(join(data, 'secret.txt'), { force: true }));
    return {
      ...server,
      loginUrl: `${url}/`,
      account: ADMIN,
      byHand: async (page) => {
        await fillLoginForm(page, `${url}/`, ADMIN, [null, 'input[type=password]', 'button[type=submit]']);
        await page.waitForSelector('input[type=password]', { state: 'detached' });
      },
    };
  },
};

const flaskAppBuilder: Application = {
  name: 'Flask-AppBuilder',
  builtWith: 'Flask, Bootstrap 3, Select2; a public home page',
  installedAs: 'flask-appbuilder',
  install: (folder) => pythonPackages(folder, ['flask-appbuilder', 'setuptools<81']),
  start: async ({ folder, data, port, url }) => {
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
    const serve = (secret: string) => startServer(python, ['site.py', secret], `${url}/login/`, { cwd: data });
    const server = await startRestartable(serve);
    return {
      ...server,
      account: ADMIN,
      byHand: async (page) => {
        await fillLoginForm(page, `${url}/login/`, ADMIN, ['#username', '#password', 'input[type=submit]']);
        await page.waitForSelector('a[href*="/logout"]', { state: 'attached' });
      },
    };
  },
};

/** Applications from PyPI that are built on Flask. */
export const FLASK: readonly Application[] = [octoprint, calibreWeb, changeDetection, flaskAppBuilder];
