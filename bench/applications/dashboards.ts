import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Secret } from 'otpauth';
import { z } from 'zod';
import type { Application } from './application.ts';
import { authenticatorCode, fillLoginForm } from './login-by-hand.ts';
import {
  executeSql,
  npmPackages,
  optionArguments,
  pythonPackages,
  run,
  startRestartable,
  startServer,
} from './server-process.ts';

const ADMIN = { identifier: 'admin', password: 'Correct-horse-battery-9' };
const HOMEBRIDGE_SECRET = Secret.fromUTF8('holdfast-bench-totp6').base32;

const homebridge: Application = {
  name: 'Homebridge with an authenticator',
  builtWith: 'Angular, Bootstrap 5; the code replaces the form, the session is a token in localStorage',
  installedAs: 'homebridge',
  install: (folder) => npmPackages(folder, ['homebridge@1', 'homebridge-config-ui-x@5']),
  start: async ({ folder, data, port, url }) => {
    const config = {
      bridge: { name: 'Homebridge', username: '0E:89:A3:11:22:33', port: port + 1, pin: '031-45-154' },
      accessories: [],
      platforms: [{ platform: 'config', name: 'Config', port, host: '127.0.0.1', auth: 'form' }],
    };
    await writeFile(join(data, 'config.json'), JSON.stringify(config));
    const home = join(folder, 'node_modules', 'homebridge-config-ui-x');
    const env = { UIX_STORAGE_PATH: data, UIX_CONFIG_PATH: join(data, 'config.json'), UIX_BASE_PATH: home };
    const serve = () => startServer('node', [join(home, 'dist', 'bin', 'standalone.js')], url, { env });
    const server = await startRestartable(serve, () => rm(join(data, '.uix-secrets')));
    const wizard = `${url}/api/setup-wizard`;
    const answer = await fetch(`${wizard}/get-setup-wizard-token`);
    const { access_token: token } = z.object({ access_token: z.string() }).parse(await answer.json());
    await fetch(`${wizard}/create-first-user`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `bearer ${token}` },
      body: JSON.stringify({ name: 'Ada', username: ADMIN.identifier, password: ADMIN.password, admin: true }),
    });
    const users = z.array(z.looseObject({})).parse(JSON.parse(await readFile(join(data, 'auth.json'), 'utf8')));
    const secured = users.map((user) => ({ ...user, otpActive: true, otpSecret: HOMEBRIDGE_SECRET }));
    await writeFile(join(data, 'auth.json'), JSON.stringify(secured));
    return {
      ...server,
      account: { ...ADMIN, totpSecret: HOMEBRIDGE_SECRET },
      byHand: async (page) => {
        await fillLoginForm(page, url, ADMIN, ['[formcontrolname=username]', '[formcontrolname=password]']);
        await page.fill('[formcontrolname=otp]', authenticatorCode(HOMEBRIDGE_SECRET));
        await page.press('[formcontrolname=otp]', 'Enter');
        await page.waitForSelector('app-sidebar', { state: 'attached' });
      },
    };
  },
};

const pgAdmin: Application = {
  name: 'pgAdmin',
  builtWith: 'Flask, React, Material UI; a language list next to the fields',
  installedAs: 'pgadmin',
  install: (folder) => pythonPackages(folder, ['pgadmin4==9.*']),
  start: async ({ folder, data, port, url }) => {
    const python = join(folder, 'bin', 'python');
    const find = 'import importlib.util; print(importlib.util.find_spec("pgadmin4").submodule_search_locations[0])';
    const home = (await run(python, ['-c', find])).trim();
    const settings = `import os
SERVER_MODE = True
DATA_DIR = os.environ['PGADMIN_DATA']
LOG_FILE = os.path.join(DATA_DIR, 'pgadmin4.log')
SQLITE_PATH = os.path.join(DATA_DIR, 'pgadmin4.db')
SESSION_DB_PATH = os.path.join(DATA_DIR, 'sessions')
STORAGE_DIR = os.path.join(DATA_DIR, 'storage')
AZURE_CREDENTIAL_CACHE_DIR = os.path.join(DATA_DIR, 'azure')
KERBEROS_CCACHE_DIR = os.path.join(DATA_DIR, 'kerberos')
DEFAULT_SERVER = '127.0.0.1'
DEFAULT_SERVER_PORT = int(os.environ['PGADMIN_PORT'])
MASTER_PASSWORD_REQUIRED = False
UPGRADE_CHECK_ENABLED = False
MAX_LOGIN_ATTEMPTS = 0
`;
    await writeFile(join(home, 'config_local.py'), settings);
    const account = { identifier: 'ada@example.com', password: ADMIN.password };
    const env = {
      PGADMIN_DATA: data,
      PGADMIN_PORT: String(port),
      PGADMIN_SETUP_EMAIL: account.identifier,
      PGADMIN_SETUP_PASSWORD: account.password,
    };
    const serve = () => startServer(python, [join(home, 'pgAdmin4.py')], `${url}/login`, { env });
    const server = await startRestartable(serve, () => rm(join(data, 'sessions'), { recursive: true }));
    return {
      ...server,
      account,
      byHand: async (page) => {
        await fillLoginForm(page, url, account, ['[name=email]', '[name=password]', '[name=internal_button]']);
        await page.waitForSelector('[data-test="main-menu-bar"], #root .dock-layout, .dock-panel');
      },
    };
  },
};

const gradio: Application = {
  name: 'Gradio',
  builtWith: 'FastAPI, Svelte; no logout link inside',
  installedAs: 'gradio',
  install: (folder) => pythonPackages(folder, ['gradio==6.*']),
  start: async ({ folder, data, port, url }) => {
    const script = join(data, 'demo.py');
    const lines = [
      'import gradio as gr, sys',
      "with gr.Blocks(title='Reverser', analytics_enabled=False) as demo:",
      "    gr.Markdown('# Reverser')",
      "    text = gr.Textbox(label='Text')",
      "    out = gr.Textbox(label='Reversed')",
      "    gr.Button('Run').click(lambda each: each[::-1], text, out)",
      `demo.launch(server_name='127.0.0.1', server_port=int(sys.argv[1]), auth=('${ADMIN.identifier}', '${ADMIN.password}'))`,
    ];
    await writeFile(script, lines.join('\n'));
    const serve = () => startServer(join(folder, 'bin', 'python'), [script, String(port)], url);
    const server = await startRestartable(serve);
    return {
      ...server,
      account: ADMIN,
      byHand: async (page) => {
        await page.goto(url);
        await page.getByLabel('username').fill(ADMIN.identifier);
        await page.getByLabel('password').fill(ADMIN.password);
        await page.getByRole('button', { name: 'Login' }).click();
        await page.getByLabel('Reversed').waitFor();
      },
    };
  },
};

const roundup: Application = {
  name: 'Roundup',
  builtWith: 'Python only, TAL templates; the form in the sidebar of every page',
  installedAs: 'roundup',
  install: (folder) => pythonPackages(folder, ['roundup']),
  start: async ({ folder, data, port, url }) => {
    const admin = (...args: string[]) => run(join(folder, 'bin', 'roundup-admin'), ['-i', data, ...args]);
    await rm(data, { recursive: true, force: true });
    await admin('install', 'classic', 'sqlite');
    const settings = `s@^#?web = .*@web = ${url}/@; s@^#?(domain|host) = .*@\\1 = localhost@`;
    await run('sed', ['-i', '-E', settings, join(data, 'config.ini')]);
    await admin('initialise', ADMIN.password);
    // Its own server refuses to run as root.
    const script = join(data, 'serve.py');
    const lines = [
      'import sys',
      'from socketserver import ThreadingMixIn',
      'from wsgiref.simple_server import make_server, WSGIServer',
      'from roundup.cgi.wsgi_handler import RequestDispatcher',
      // A server of one request at a time would wait for connections that a browser opens in advance.
      'class Server(ThreadingMixIn, WSGIServer): pass',
      "make_server('127.0.0.1', int(sys.argv[2]), RequestDispatcher(sys.argv[1]), Server).serve_forever()",
    ];
    await writeFile(script, lines.join('\n'));
    const serve = () => startServer(join(folder, 'bin', 'python'), [script, data, String(port)], url);
    const server = await startRestartable(serve, () =>
      run('sh', ['-c', 'rm -f db/db-session* db/sessions*'], { cwd: data }),
    );
    return {
      ...server,
      loginUrl: `${url}/`,
      account: ADMIN,
      byHand: async (page) => {
        await fillLoginForm(page, url, ADMIN, ['[name=__login_name]', '[name=__login_password]']);
        await page.waitForSelector('a[href*="logout"]');
      },
    };
  },
};

const actual: Application = {
  name: 'Actual',
  builtWith: 'Express, React, Emotion; password only, the session is a token in IndexedDB',
  installedAs: 'actual',
  install: async (folder) => {
    await npmPackages(folder, ['@actual-app/sync-server@25']);
    // A first visit requests hundreds of files, more than its rate limit allows.
    const server = join(folder, 'node_modules', '@actual-app', 'sync-server', 'build', 'src', 'app.js');
    await run('sed', ['-i', 's/max: 500,/max: 50000,/', server]);
  },
  start: async ({ folder, data, port, url }) => {
    // It serves no files below a folder whose name starts with a dot.
    await run('cp', ['-r', join(folder, 'node_modules', '@actual-app', 'web', 'build'), join(data, 'web')]);
    const env = {
      ACTUAL_WEB_ROOT: join(data, 'web'),
      ACTUAL_DATA_DIR: data,
      ACTUAL_PORT: String(port),
      ACTUAL_HOSTNAME: '127.0.0.1',
    };
    const program = join(folder, 'node_modules', '@actual-app', 'sync-server', 'build', 'bin', 'actual-server.js');
    const server = await startServer('node', [program], `${url}/info`, { env, cwd: data });
    const body = JSON.stringify({ password: ADMIN.password });
    const headers = { 'content-type': 'application/json' };
    await fetch(`${url}/account/bootstrap`, { method: 'POST', headers, body });
    return {
      ...server,
      account: ADMIN,
      endSessions: () => executeSql(join(data, 'server-files', 'account.sqlite'), 'delete from sessions'),
      byHand: async (page) => {
        await fillLoginForm(page, url, ADMIN, [null, 'input[type=password]']);
        await page.waitForSelector('text=/start fresh|import my budget|let.s get started/i');
      },
    };
  },
};

const jupyter: Application = {
  name: 'JupyterLab',
  builtWith: 'Tornado, Jinja, Lumino; password only',
  installedAs: 'jupyterlab',
  install: (folder) => pythonPackages(folder, ['jupyterlab==4.*']),
  start: async ({ folder, data, port, url }) => {
    const bin = join(folder, 'bin');
    const hashScript = `from jupyter_server.auth import passwd; print(passwd('${ADMIN.password}', 'sha256'))`;
    const hash = (await run(join(bin, 'python'), ['-c', hashScript])).trim();
    const options = {
      port: String(port),
      'ServerApp.root_dir': data,
      'PasswordIdentityProvider.hashed_password': hash,
    };
    const env = { JUPYTER_CONFIG_DIR: data, JUPYTER_DATA_DIR: data, JUPYTER_RUNTIME_DIR: data };
    const serve = (secret: string) => {
      const args = optionArguments({ ...options, 'ServerApp.cookie_secret': secret });
      return startServer(join(bin, 'jupyter-lab'), ['--allow-root', '--no-browser', ...args], `${url}/login`, {
        cwd: data,
        env,
      });
    };
    const server = await startRestartable(serve);
    return {
      ...server,
      account: ADMIN,
      byHand: async (page) => {
        await fillLoginForm(page, url, ADMIN, [null, '[name=password]', '#login_submit']);
        await page.waitForSelector('#jp-top-panel, #top-panel, .jp-LabShell');
      },
    };
  },
};

/** Dashboards and web consoles from npm and PyPI. */
export const DASHBOARDS: readonly Application[] = [homebridge, pgAdmin, gradio, roundup, actual, jupyter];
