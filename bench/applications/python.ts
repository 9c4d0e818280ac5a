import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Secret, TOTP } from 'otpauth';
import type { Page } from 'playwright-core';
import { z } from 'zod';
import { until } from '../../test/e2e/process-tree.ts';
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
    // Its proxy is a process of its own, which outlives it and would keep the port.
    const stop = async (): Promise<void> => {
      await run('sh', ['-c', 'kill "$(cat jupyterhub-proxy.pid)"'], { cwd: data });
      await server.stop();
    };
    return {
      domain: `localhost:${port}`,
      account: ADMIN,
      endSessions: async () => {
        await stop();
        for (const name of ['jupyterhub.sqlite', 'jupyterhub_cookie_secret', 'jupyterhub-proxy.pid'])
          await rm(join(data, name), { force: true });
        server = await serve();
      },
      byHand: async (page) => {
        await fillIn(page, `${url}/hub/login`, '#username_input', '#password_input', '#login_submit');
        await page.waitForSelector('#logout');
      },
      stop,
    };
  },
};

/** The last release that its Python runs, and what its login pages would fetch by themselves at the first start. */
const HOME_ASSISTANT = [
  'homeassistant==2024.3.3',
  'home-assistant-frontend==20240307.0',
  'Pillow==10.2.0',
  'janus==1.0.0',
  'SQLAlchemy==2.0.27',
  'fnv-hash-fast==0.5.0',
  'psutil-home-assistant==0.0.1',
  'securetar==2024.2.1',
  'josepy<2',
  'pyotp==2.8.0',
  'setuptools<81',
];
const ADA = {
  identifier: 'ada',
  password: ADMIN.password,
  totpSecret: Secret.fromUTF8('holdfast-bench-totp4').base32,
};
const Users = z.object({
  data: z.object({
    users: z.array(z.object({ id: z.string(), is_owner: z.boolean() })),
    credentials: z.array(z.object({ user_id: z.string() })),
  }),
});

/** Adds the first user by the application's own guide, which counts as finished from then on. */
async function createHomeAssistantUser(url: string, storage: string): Promise<void> {
  const user = { client_id: `${url}/`, name: 'Ada Archer', username: ADA.identifier, password: ADA.password };
  await fetch(`${url}/api/onboarding/users`, { method: 'POST', body: JSON.stringify({ ...user, language: 'en' }) });
  const owner = await until(async () => await ownerIn(join(storage, 'auth')), 20_000, 'the user to be stored');
  const done = ['user', 'core_config', 'analytics', 'integration'];
  const store = async (key: string, version: number, data: unknown): Promise<void> =>
    await writeFile(join(storage, key), JSON.stringify({ version, minor_version: 1, key, data }));
  await store('onboarding', 4, { done });
  await store('auth_module.totp', 1, { users: { [owner]: ADA.totpSecret } });
}

/** The owner, once the name and password are stored as the owner's: until then they would make a user of their own. */
async function ownerIn(file: string): Promise<string | null> {
  const text = await readFile(file, 'utf8').catch(() => '{}');
  const { users = [], credentials = [] } = Users.safeParse(JSON.parse(text)).data?.data ?? {};
  const owner = users.find(({ is_owner: isOwner }) => isOwner)?.id;
  return credentials.find(({ user_id: id }) => id === owner)?.user_id ?? null;
}

const END_HOME_ASSISTANT_SESSIONS =
  "import json,sys; s=json.load(open(sys.argv[1])); s['data']['refresh_tokens']=[]; json.dump(s, open(sys.argv[1],'w'))";

const homeAssistant: Application = {
  name: 'Home Assistant with an authenticator',
  madeOf: 'aiohttp, Lit, Material in shadow roots; the session is a token in localStorage',
  installedAs: 'homeassistant',
  install: async (folder) => {
    await pythonPackages(folder, HOME_ASSISTANT);
  },
  start: async ({ folder, data, port }) => {
    await mkdir(data, { recursive: true });
    const config = ['http:', '  server_host: 127.0.0.1', `  server_port: ${port}`, 'api:', 'config:', 'frontend:'];
    await writeFile(join(data, 'configuration.yaml'), config.join('\n'));
    const storage = join(data, '.storage');
    const url = `http://localhost:${port}`;
    const program = join(folder, 'bin', 'hass');
    const serve = () => startServer(program, ['--config', data, '--skip-pip'], `${url}/manifest.json`);
    let server = await serve();
    await createHomeAssistantUser(url, storage);
    await server.stop();
    server = await serve();
    return {
      domain: `localhost:${port}`,
      account: ADA,
      endSessions: async () => {
        await server.stop();
        await run('python3', ['-c', END_HOME_ASSISTANT_SESSIONS, join(storage, 'auth')]);
        server = await serve();
      },
      byHand: async (page) => {
        await page.goto(url);
        await page.fill('input[name=username]', ADA.identifier);
        await page.fill('input[name=password]', ADA.password);
        await page.click('mwc-button');
        await page.fill('input[name=code]', new TOTP({ secret: ADA.totpSecret }).generate());
        await page.click('mwc-button');
        await page.locator('ha-sidebar').waitFor({ timeout: 60_000 });
      },
      stop: () => server.stop(),
    };
  },
};

/** Applications from PyPI, but those on Flask. */
export const PYTHON: readonly Application[] = [django, wagtail, jupyterHub, homeAssistant];
