import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import type { Application } from './application.ts';
import { npmPackages, pythonPackages, run, startServer } from './server-process.ts';

const ADMIN = { identifier: 'admin', password: 'Correct-horse-battery-9' };

/** Creates the one user of a Django project. */
async function createDjangoUser(manage: readonly [string, string], cwd: string): Promise<void> {
  const [python, script] = manage;
  const env = {
    ...process.env,
    DJANGO_SUPERUSER_USERNAME: ADMIN.identifier,
    DJANGO_SUPERUSER_PASSWORD: ADMIN.password,
    DJANGO_SUPERUSER_EMAIL: 'admin@example.test',
  };
  await run(python, [script, 'migrate', '--verbosity', '0'], { cwd, env });
  await run(python, [script, 'createsuperuser', '--noinput', '--verbosity', '0'], { cwd, env });
}

const END_DJANGO_SESSIONS = 'from django.contrib.sessions.models import Session; Session.objects.all().delete()';

async function fillIn(page: Page, url: string, identifier: string, password: string, submit: string): Promise<void> {
  await page.goto(url);
  await page.fill(identifier, ADMIN.identifier);
  await page.fill(password, ADMIN.password);
  await page.click(submit);
}

const django: Application = {
  name: 'Django admin',
  madeOf: 'Django, its own templates',
  installedAs: 'django',
  install: async (folder) => {
    await pythonPackages(folder, ['django']);
  },
  start: async ({ folder, data, port }) => {
    const bin = join(folder, 'bin');
    const site = join(data, 'site');
    await mkdir(site, { recursive: true });
    await run(join(bin, 'django-admin'), ['startproject', 'site1', site]);
    const python = join(bin, 'python');
    await createDjangoUser([python, 'manage.py'], site);
    const url = `http://localhost:${port}`;
    const server = await startServer(
      python,
      ['manage.py', 'runserver', '--noreload', String(port)],
      `${url}/admin/login/`,
      {
        cwd: site,
      },
    );
    return {
      domain: `localhost:${port}`,
      loginUrl: `${url}/admin/`,
      account: ADMIN,
      endSessions: async () => {
        await run(python, ['manage.py', 'shell', '-c', END_DJANGO_SESSIONS], { cwd: site });
      },
      byHand: async (page) => {
        await fillIn(page, `${url}/admin/`, '#id_username', '#id_password', 'input[type=submit]');
        await page.waitForSelector('#logout-form');
      },
      stop: () => server.stop(),
    };
  },
};

const wagtail: Application = {
  name: 'Wagtail',
  madeOf: 'Django, Wagtail, Stimulus and React',
  installedAs: 'wagtail',
  install: async (folder) => {
    await pythonPackages(folder, ['wagtail']);
  },
  start: async ({ folder, data, port }) => {
    const bin = join(folder, 'bin');
    const site = join(data, 'site');
    await mkdir(site, { recursive: true });
    await run(join(bin, 'wagtail'), ['start', 'site1', site], {
      env: { ...process.env, PATH: `${bin}:${process.env['PATH'] ?? ''}` },
    });
    const python = join(bin, 'python');
    await createDjangoUser([python, 'manage.py'], site);
    const url = `http://localhost:${port}`;
    const server = await startServer(
      python,
      ['manage.py', 'runserver', '--noreload', String(port)],
      `${url}/admin/login/`,
      {
        cwd: site,
      },
    );
    return {
      domain: `localhost:${port}`,
      loginUrl: `${url}/admin/`,
      account: ADMIN,
      endSessions: async () => {
        await run(python, ['manage.py', 'shell', '-c', END_DJANGO_SESSIONS], { cwd: site });
      },
      byHand: async (page) => {
        await fillIn(page, `${url}/admin/`, '#id_username', '#id_password', 'button[type=submit]');
        await page.waitForSelector('[data-sidebar-account], .sidebar-footer');
      },
      stop: () => server.stop(),
    };
  },
};

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
  madeOf: 'Flask, password alone, Pure CSS',
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
        await page.waitForSelector('a[href="/logout"]', { state: 'attached' });
      },
      stop: () => server.stop(),
    };
  },
};

const jupyterHub: Application = {
  name: 'JupyterHub',
  madeOf: 'Tornado, Bootstrap 5',
  installedAs: 'jupyterhub',
  install: async (folder) => {
    await pythonPackages(join(folder, 'python'), ['jupyterhub']);
    await npmPackages(join(folder, 'proxy'), ['configurable-http-proxy@4']);
  },
  start: async ({ folder, data, port }) => {
    await mkdir(data, { recursive: true });
    const config = join(data, 'config.py');
    const settings = [
      `c.JupyterHub.bind_url = 'http://127.0.0.1:${port}'`,
      `c.JupyterHub.hub_port = ${port + 1}`,
      `c.ConfigurableHTTPProxy.api_url = 'http://127.0.0.1:${port + 2}'`,
      `c.ConfigurableHTTPProxy.command = ['${join(folder, 'proxy', 'node_modules', '.bin', 'configurable-http-proxy')}']`,
      "c.JupyterHub.authenticator_class = 'dummy'",
      `c.DummyAuthenticator.password = '${ADMIN.password}'`,
      'c.Authenticator.allow_all = True',
      "c.JupyterHub.spawner_class = 'simple'",
      "c.JupyterHub.default_url = '/hub/home'",
    ];
    await writeFile(config, settings.join('\n'));
    const url = `http://localhost:${port}`;
    const serve = () =>
      startServer(join(folder, 'python', 'bin', 'jupyterhub'), ['-f', config], `${url}/hub/login`, { cwd: data });
    let server = await serve();
    return {
      domain: `localhost:${port}`,
      account: ADMIN,
      endSessions: async () => {
        await server.stop();
        for (const name of ['jupyterhub.sqlite', 'jupyterhub_cookie_secret', 'jupyterhub-proxy.pid'])
          await rm(join(data, name), { force: true });
        server = await serve();
      },
      byHand: async (page) => {
        await fillIn(page, `${url}/hub/login`, '#username_input', '#password_input', '#login_submit');
        await page.waitForSelector('#logout');
      },
      stop: () => server.stop(),
    };
  },
};

/** Applications from PyPI. */
export const PYTHON: readonly Application[] = [django, wagtail, octoprint, calibreWeb, changeDetection, jupyterHub];
