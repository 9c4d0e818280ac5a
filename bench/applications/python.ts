import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Secret } from 'otpauth';
import { z } from 'zod';
import { waitFor } from '../../test/e2e/until.ts';
import type { Application, Place } from './application.ts';
import { djangoProject } from './django.ts';
import { authenticatorCode, fillLoginForm } from './login-by-hand.ts';
import {
  npmPackages,
  pythonPackages,
  run,
  startRestartable,
  startServer,
  type RestartableServer,
} from './server-process.ts';

const ADMIN = { identifier: 'admin', password: 'Correct-horse-battery-9' };

/** Creates the one user of a project from a template; serves the project. */
async function serveDjangoAdmin(bin: string, site: string, { port, url }: Place): Promise<RestartableServer> {
  const env = {
    DJANGO_SUPERUSER_USERNAME: ADMIN.identifier,
    DJANGO_SUPERUSER_PASSWORD: ADMIN.password,
    DJANGO_SUPERUSER_EMAIL: 'admin@example.test',
  };
  const project = djangoProject(join(bin, 'python'), { cwd: site, env });
  await project.manage('migrate', '--verbosity', '0');
  await project.manage('createsuperuser', '--noinput', '--verbosity', '0');
  return await project.serve(port, `${url}/admin/login/`);
}

const django: Application = {
  name: 'Django admin',
  builtWith: 'Django, its own templates',
  installedAs: 'django',
  install: (folder) => pythonPackages(folder, ['django']),
  start: async (place) => {
    const bin = join(place.folder, 'bin');
    const site = join(place.data, 'site');
    await mkdir(site);
    await run(join(bin, 'django-admin'), ['startproject', 'site1', site]);
    const server = await serveDjangoAdmin(bin, site, place);
    const loginUrl = `${place.url}/admin/`;
    return {
      ...server,
      loginUrl,
      account: ADMIN,
      byHand: async (page) => {
        await fillLoginForm(page, loginUrl, ADMIN, ['#id_username', '#id_password', 'input[type=submit]']);
        await page.waitForSelector('#logout-form');
      },
    };
  },
};

const wagtail: Application = {
  name: 'Wagtail',
  builtWith: 'Django, Wagtail, Stimulus and React',
  installedAs: 'wagtail',
  install: (folder) => pythonPackages(folder, ['wagtail']),
  start: async (place) => {
    const bin = join(place.folder, 'bin');
    const site = join(place.data, 'site');
    await mkdir(site);
    const env = { PATH: `${bin}:${process.env['PATH'] ?? ''}` };
    await run(join(bin, 'wagtail'), ['start', 'site1', site], { env });
    const server = await serveDjangoAdmin(bin, site, place);
    const loginUrl = `${place.url}/admin/`;
    return {
      ...server,
      loginUrl,
      account: ADMIN,
      byHand: async (page) => {
        await fillLoginForm(page, loginUrl, ADMIN, ['#id_username', '#id_password', 'button[type=submit]']);
        await page.waitForSelector('[data-sidebar-account], .sidebar-footer');
      },
    };
  },
};

const jupyterHub: Application = {
  name: 'JupyterHub',
  builtWith: 'Tornado, Bootstrap 5',
  installedAs: 'jupyterhub',
  install: async (folder) => {
    await pythonPackages(join(folder, 'python'), ['jupyterhub']);
    await npmPackages(join(folder, 'proxy'), ['configurable-http-proxy@4']);
  },
  start: async ({ folder, data, port, url }) => {
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
    const program = join(folder, 'python', 'bin', 'jupyterhub');
    const serve = async () => {
      const server = await startServer(program, ['-f', config], `${url}/hub/login`, { cwd: data });
      return {
        stop: async () => {
          // Its proxy is a separate process, which would outlive it and keep the port.
          await run('sh', ['-c', 'kill "$(cat jupyterhub-proxy.pid)"'], { cwd: data });
          await server.stop();
        },
      };
    };
    const server = await startRestartable(serve, async () => {
      for (const name of ['jupyterhub.sqlite', 'jupyterhub_cookie_secret', 'jupyterhub-proxy.pid'])
        await rm(join(data, name), { force: true });
    });
    return {
      ...server,
      account: ADMIN,
      byHand: async (page) => {
        await fillLoginForm(page, `${url}/hub/login`, ADMIN, ['#username_input', '#password_input', '#login_submit']);
        await page.waitForSelector('#logout');
      },
    };
  },
};

/** The last release for this version of Python, with the packages that its login pages would install on the first start. */
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

/** Creates the first user through onboarding and marks onboarding as done. */
async function createHomeAssistantUser(url: string, storage: string): Promise<void> {
  const user = { client_id: `${url}/`, name: 'Ada Archer', username: ADA.identifier, password: ADA.password };
  await fetch(`${url}/api/onboarding/users`, { method: 'POST', body: JSON.stringify({ ...user, language: 'en' }) });
  const owner = await waitFor(async () => await ownerIn(join(storage, 'auth')), 20_000, 'the user to be stored');
  const done = ['user', 'core_config', 'analytics', 'integration'];
  const store = async (key: string, version: number, data: unknown): Promise<void> =>
    await writeFile(join(storage, key), JSON.stringify({ version, minor_version: 1, key, data }));
  await store('onboarding', 4, { done });
  await store('auth_module.totp', 1, { users: { [owner]: ADA.totpSecret } });
}

/** The owner's id, once the name and password are stored for the owner; a restart before that would make them another user's. */
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
  builtWith: 'aiohttp, Lit, Material in shadow roots; the session is a token in localStorage',
  installedAs: 'homeassistant',
  install: (folder) => pythonPackages(folder, HOME_ASSISTANT),
  start: async ({ folder, data, port, url }) => {
    const config = ['http:', '  server_host: 127.0.0.1', `  server_port: ${port}`, 'api:', 'config:', 'frontend:'];
    await writeFile(join(data, 'configuration.yaml'), config.join('\n'));
    const storage = join(data, '.storage');
    const program = join(folder, 'bin', 'hass');
    const serve = () => startServer(program, ['--config', data, '--skip-pip'], `${url}/manifest.json`);
    const firstRun = await serve();
    await createHomeAssistantUser(url, storage);
    await firstRun.stop();
    const server = await startRestartable(serve, () =>
      run('python3', ['-c', END_HOME_ASSISTANT_SESSIONS, join(storage, 'auth')]),
    );
    return {
      ...server,
      account: ADA,
      byHand: async (page) => {
        await fillLoginForm(page, url, ADA, ['input[name=username]', 'input[name=password]', 'mwc-button']);
        await page.fill('input[name=code]', authenticatorCode(ADA.totpSecret));
        await page.click('mwc-button');
        await page.locator('ha-sidebar').waitFor({ timeout: 60_000 });
      },
    };
  },
};

/** Applications from PyPI, except those on Flask. */
export const PYTHON: readonly Application[] = [django, wagtail, jupyterHub, homeAssistant];
