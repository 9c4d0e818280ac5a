import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Secret, TOTP } from 'otpauth';
import { z } from 'zod';
import type { Application } from './application.ts';
import { npmPackages, pythonPackages, run, startServer } from './server-process.ts';

const ADMIN = { identifier: 'admin', password: 'Correct-horse-battery-9' };
const HOMEBRIDGE_SECRET = Secret.fromUTF8('holdfast-bench-totp6').base32;

const homebridge: Application = {
  name: 'Homebridge with an authenticator',
  madeOf: 'Angular, Bootstrap 5; the code replaces the form, the session is a token in localStorage',
  installedAs: 'homebridge',
  install: (folder) => npmPackages(folder, ['homebridge@1', 'homebridge-config-ui-x@5']),
  start: async ({ folder, data, port }) => {
    await mkdir(data, { recursive: true });
    const config = {
      bridge: { name: 'Homebridge', username: '0E:89:A3:11:22:33', port: port + 1, pin: '031-45-154' },
      accessories: [],
      platforms: [{ platform: 'config', name: 'Config', port, host: '127.0.0.1', auth: 'form' }],
    };
    await writeFile(join(data, 'config.json'), JSON.stringify(config));
    const home = join(folder, 'node_modules', 'homebridge-config-ui-x');
    const url = `http://localhost:${port}`;
    const env = { UIX_STORAGE_PATH: data, UIX_CONFIG_PATH: join(data, 'config.json'), UIX_BASE_PATH: home };
    const serve = () => startServer('node', [join(home, 'dist', 'bin', 'standalone.js')], url, { env });
    let server = await serve();
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
      domain: `localhost:${port}`,
      account: { ...ADMIN, totpSecret: HOMEBRIDGE_SECRET },
      endSessions: async () => {
        await server.stop();
        await rm(join(data, '.uix-secrets'));
        server = await serve();
      },
      byHand: async (page) => {
        await page.goto(url);
        await page.fill('[formcontrolname=username]', ADMIN.identifier);
        await page.fill('[formcontrolname=password]', ADMIN.password);
        await page.press('[formcontrolname=password]', 'Enter');
        await page.fill('[formcontrolname=otp]', new TOTP({ secret: HOMEBRIDGE_SECRET }).generate());
        await page.press('[formcontrolname=otp]', 'Enter');
        await page.waitForSelector('app-sidebar', { state: 'attached' });
      },
      stop: () => server.stop(),
    };
  },
};

const pgAdmin: Application = {
  name: 'pgAdmin',
  madeOf: 'Flask, React, Material UI; a language list next to the fields',
  installedAs: 'pgadmin',
  install: async (folder) => {
    await pythonPackages(folder, ['pgadmin4==9.*']);
  },
  start: async ({ folder, data, port }) => {
    await mkdir(data, { recursive: true });
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
    const url = `http://localhost:${port}`;
    const serve = () => startServer(python, [join(home, 'pgAdmin4.py')], `${url}/login`, { env });
    let server = await serve();
    return {
      domain: `localhost:${port}`,
      account,
      endSessions: async () => {
        await server.stop();
        await rm(join(data, 'sessions'), { recursive: true });
        server = await serve();
      },
      byHand: async (page) => {
        await page.goto(url);
        await page.fill('[name=email]', account.identifier);
        await page.fill('[name=password]', account.password);
        await page.click('[name=internal_button]');
        await page.waitForSelector('[data-test="main-menu-bar"], #root .dock-layout, .dock-panel');
      },
      stop: () => server.stop(),
    };
  },
};

const gradio: Application = {
  name: 'Gradio',
  madeOf: 'FastAPI, Svelte; no logout link inside',
  installedAs: 'gradio',
  install: async (folder) => {
    await pythonPackages(folder, ['gradio==6.*']);
  },
  start: async ({ folder, data, port }) => {
    await mkdir(data, { recursive: true });
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
    const url = `http://localhost:${port}`;
    const serve = () => startServer(join(folder, 'bin', 'python'), [script, String(port)], url);
    let server = await serve();
    return {
      domain: `localhost:${port}`,
      account: ADMIN,
      endSessions: async () => {
        await server.stop();
        server = await serve();
      },
      byHand: async (page) => {
        await page.goto(url);
        await page.getByLabel('username').fill(ADMIN.identifier);
        await page.getByLabel('password').fill(ADMIN.password);
        await page.getByRole('button', { name: 'Login' }).click();
        await page.getByLabel('Reversed').waitFor();
      },
      stop: () => server.stop(),
    };
  },
};

const roundup: Application = {
  name: 'Roundup',
  madeOf: 'Python only, TAL templates; the form in the sidebar of every page',
  installedAs: 'roundup',
  install: async (folder) => {
    await pythonPackages(folder, ['roundup']);
  },
  start: async ({ folder, data, port }) => {
    const admin = (...args: string[]) => run(join(folder, 'bin', 'roundup-admin'), ['-i', data, ...args]);
    await rm(data, { recursive: true, force: true });
    await admin('install', 'classic', 'sqlite');
    const url = `http://localhost:${port}/`;
    const settings = `s@^#?web = .*@web = ${url}@; s@^#?(domain|host) = .*@\\1 = localhost@`;
    await run('sed', ['-i', '-E', settings, join(data, 'config.ini')]);
    await admin('initialise', ADMIN.password);
    // Its own server refuses to run as root.
    const script = join(data, 'serve.py');
    const lines = [
      'import sys',
      'from socketserver import ThreadingMixIn',
      'from wsgiref.simple_server import make_server, WSGIServer',
      'from roundup.cgi.wsgi_handler import RequestDispatcher',
      // One at a time would wait for the connections that a browser opens in case it needs them.
      'class Server(ThreadingMixIn, WSGIServer): pass',
      "make_server('127.0.0.1', int(sys.argv[2]), RequestDispatcher(sys.argv[1]), Server).serve_forever()",
    ];
    await writeFile(script, lines.join('\n'));
    const serve = () => startServer(join(folder, 'bin', 'python'), [script, data, String(port)], url);
    let server = await serve();
    return {
      domain: `localhost:${port}`,
      loginUrl: url,
      account: ADMIN,
      endSessions: async () => {
        await server.stop();
        await run('sh', ['-c', 'rm -f db/db-session* db/sessions*'], { cwd: data });
        server = await serve();
      },
      byHand: async (page) => {
        await page.goto(url);
        await page.fill('[name=__login_name]', ADMIN.identifier);
        await page.fill('[name=__login_password]', ADMIN.password);
        await page.press('[name=__login_password]', 'Enter');
        await page.waitForSelector('a[href*="logout"]');
      },
      stop: () => server.stop(),
    };
  },
};

const actual: Application = {
  name: 'Actual',
  madeOf: 'Express, React, Emotion; password only, the session is a token in IndexedDB',
  installedAs: 'actual',
  install: async (folder) => {
    await npmPackages(folder, ['@actual-app/sync-server@25']);
    // A browser that comes for the first time asks for hundreds of files: a few of them in a minute are all that it serves.
    const server = join(folder, 'node_modules', '@actual-app', 'sync-server', 'build', 'src', 'app.js');
    await run('sed', ['-i', 's/max: 500,/max: 50000,/', server]);
  },
  start: async ({ folder, data, port }) => {
    await mkdir(data, { recursive: true });
    const url = `http://localhost:${port}`;
    // It serves nothing that lies below a folder whose name begins with a dot.
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
      domain: `localhost:${port}`,
      account: ADMIN,
      endSessions: async () => {
        const script =
          "import sqlite3,sys; d=sqlite3.connect(sys.argv[1]); d.execute('delete from sessions'); d.commit()";
        await run('python3', ['-c', script, join(data, 'server-files', 'account.sqlite')]);
      },
      byHand: async (page) => {
        await page.goto(url);
        await page.fill('input[type=password]', ADMIN.password);
        await page.keyboard.press('Enter');
        await page.waitForSelector('text=/start fresh|import my budget|let.s get started/i');
      },
      stop: () => server.stop(),
    };
  },
};

const jupyter: Application = {
  name: 'JupyterLab',
  madeOf: 'Tornado, Jinja, Lumino; password only',
  installedAs: 'jupyterlab',
  install: async (folder) => {
    await pythonPackages(folder, ['jupyterlab==4.*']);
  },
  start: async ({ folder, data, port }) => {
    await mkdir(data, { recursive: true });
    const bin = join(folder, 'bin');
    const hash = await run(join(bin, 'python'), [
      '-c',
      `from jupyter_server.auth import passwd; print(passwd('${ADMIN.password}', 'sha256'))`,
    ]);
    const url = `http://localhost:${port}`;
    const serve = (secret: string) =>
      startServer(
        join(bin, 'jupyter-lab'),
        [
          '--allow-root',
          '--no-browser',
          `--port=${port}`,
          `--ServerApp.root_dir=${data}`,
          `--PasswordIdentityProvider.hashed_password=${hash.trim()}`,
          `--ServerApp.cookie_secret=${secret.repeat(32)}`,
        ],
        `${url}/login`,
        { cwd: data, env: { JUPYTER_CONFIG_DIR: data, JUPYTER_DATA_DIR: data, JUPYTER_RUNTIME_DIR: data } },
      );
    let server = await serve('a');
    return {
      domain: `localhost:${port}`,
      account: ADMIN,
      endSessions: async () => {
        await server.stop();
        server = await serve('b');
      },
      byHand: async (page) => {
        await page.goto(url);
        await page.fill('[name=password]', ADMIN.password);
        await page.click('#login_submit');
        await page.waitForSelector('#jp-top-panel, #top-panel, .jp-LabShell');
      },
      stop: () => server.stop(),
    };
  },
};

/** Consoles and tools that came after the first twenty. */
export const DASHBOARDS: readonly Application[] = [homebridge, pgAdmin, gradio, roundup, actual, jupyter];
