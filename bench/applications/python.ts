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

/** Applications from PyPI, but those on Flask. */
export const PYTHON: readonly Application[] = [django, wagtail, jupyterHub];
