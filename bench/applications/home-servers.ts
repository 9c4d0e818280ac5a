import { createHash } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Secret, TOTP } from 'otpauth';
import { until } from '../../test/e2e/process-tree.ts';
import type { Application } from './application.ts';
import { debianFiles, npmPackages, pythonPackages, run, startServer } from './server-process.ts';

const ADMIN = { identifier: 'admin', password: 'Correct-horse-battery-9' };
/** As Uptime Kuma keeps it: raw characters, not base32. */
const RAW_TOTP_SECRET = 'holdfast-bench-totp7';

const deluge: Application = {
  name: 'Deluge',
  madeOf: 'Twisted, Ext JS 3; password only, in a dialog over an empty application frame',
  installedAs: 'deluge',
  install: async (folder) => {
    await pythonPackages(folder, ['deluge==2.2.*', 'setuptools<81']);
  },
  start: async ({ folder, data, port }) => {
    await mkdir(data, { recursive: true });
    const salt = 'c26ab3bbd8b137f99cd83c2c1c0963bcc1a35cad';
    const hash = createHash('sha1')
      .update(salt + ADMIN.password)
      .digest('hex');
    const config = join(data, 'web.conf');
    const settings = { pwd_salt: salt, pwd_sha1: hash, first_login: false, sessions: {} };
    const write = () => writeFile(config, `{"file": 2, "format": 1}${JSON.stringify(settings)}`);
    await write();
    const url = `http://localhost:${port}`;
    const args = ['-d', '-c', data, '-i', '127.0.0.1', '-p', String(port)];
    const serve = () => startServer(join(folder, 'bin', 'deluge-web'), args, url);
    let server = await serve();
    return {
      domain: `localhost:${port}`,
      account: ADMIN,
      endSessions: async () => {
        await server.stop();
        await write();
        server = await serve();
      },
      byHand: async (page) => {
        await page.goto(url);
        await page.fill('input[type=password]', ADMIN.password);
        await page.press('input[type=password]', 'Enter');
        await page.waitForSelector('text=Connection Manager >> visible=true');
      },
      stop: () => server.stop(),
    };
  },
};

const signalK: Application = {
  name: 'Signal K',
  madeOf: 'Express, React, CoreUI; a public home page, the form at a hash address',
  installedAs: 'signalk',
  install: async (folder) => {
    await npmPackages(folder, ['signalk-server@2', 'bcryptjs@2']);
    // It looks for its own pages in its own folder, where a global installation puts them.
    const link = 'mkdir -p signalk-server/node_modules && ln -sfn ../../@signalk signalk-server/node_modules/@signalk';
    await run('sh', ['-c', link], { cwd: join(folder, 'node_modules') });
  },
  start: async ({ folder, data, port }) => {
    await mkdir(data, { recursive: true });
    const modules = join(folder, 'node_modules');
    const settings = {
      interfaces: {},
      ssl: false,
      mdns: false,
      pipedProviders: [],
      security: { strategy: './tokensecurity' },
    };
    await writeFile(join(data, 'settings.json'), JSON.stringify(settings));
    const hash = `console.log(require('${join(modules, 'bcryptjs')}').hashSync('${ADMIN.password}', 8))`;
    const password = (await run('node', ['-e', hash])).trim();
    const users = [{ username: ADMIN.identifier, type: 'admin', password }];
    const secure = (key: string) =>
      writeFile(
        join(data, 'security.json'),
        JSON.stringify({
          allow_readonly: true,
          expiration: '1d',
          secretKey: key.repeat(64),
          users,
          devices: [],
          acls: [],
        }),
        { mode: 0o600 },
      );
    await secure('a');
    const url = `http://localhost:${port}`;
    const program = join(modules, 'signalk-server', 'bin', 'signalk-server');
    const env = {
      PORT: String(port),
      EXTERNALPORT: String(port),
      TCPSTREAMPORT: String(port + 1),
      NMEA0183PORT: String(port + 2),
    };
    const serve = () => startServer('node', [program, '-c', data], `${url}/signalk`, { cwd: data, env });
    let server = await serve();
    return {
      domain: `localhost:${port}`,
      account: ADMIN,
      endSessions: async () => {
        await server.stop();
        await secure('b');
        server = await serve();
      },
      byHand: async (page) => {
        await page.goto(`${url}/admin/#/login`);
        await page.fill('input[name=username]', ADMIN.identifier);
        await page.fill('input[name=password]', ADMIN.password);
        await page.press('input[name=password]', 'Enter');
        await page.waitForSelector('text=/log ?out/i');
      },
      stop: () => server.stop(),
    };
  },
};

const ADD_KUMA_USER =
  "import sqlite3,sys; c=sqlite3.connect(sys.argv[1]); c.execute('insert into user(username,password,active,twofa_secret,twofa_status) values(?,?,1,?,1)', sys.argv[2:]); c.commit()";
const HAS_KUMA_SECRET =
  'import sqlite3,sys; c=sqlite3.connect(sys.argv[1]); assert c.execute("select 1 from setting where key=\'jwtSecret\'").fetchone()';
const END_KUMA_SESSIONS =
  'import sqlite3,sys; c=sqlite3.connect(sys.argv[1]); c.execute("update setting set value=\'\\"another\\"\' where key=\'jwtSecret\'"); c.commit()';

const uptimeKuma: Application = {
  name: 'Uptime Kuma with an authenticator',
  madeOf:
    'Express, Vue, Bootstrap 5 over a websocket; the code replaces the fields, the session is a token in localStorage',
  installedAs: 'uptime-kuma',
  install: async (folder) => {
    await npmPackages(folder, ['uptime-kuma@2.0.0-dev.0']);
    // The package keeps some of its steps beside the folder where it looks for them.
    await run('sh', ['-c', 'cp patch*.sql old_migrations/'], {
      cwd: join(folder, 'node_modules', 'uptime-kuma', 'db'),
    });
  },
  start: async ({ folder, data, port }) => {
    await mkdir(data, { recursive: true });
    const url = `http://localhost:${port}`;
    const modules = join(folder, 'node_modules');
    const home = join(modules, 'uptime-kuma');
    const env = {
      UPTIME_KUMA_DB_TYPE: 'sqlite',
      DATA_DIR: `${data}/`,
      UPTIME_KUMA_HOST: '127.0.0.1',
      UPTIME_KUMA_PORT: String(port),
      NODE_ENV: 'production',
    };
    const serve = () => startServer('node', ['server/server.js'], `${url}/dashboard`, { cwd: home, env });
    const database = join(data, 'kuma.db');
    let server = await serve();
    // It answers before its tables are made; its secret comes after the last of them.
    const isMade = () =>
      run('python3', ['-c', HAS_KUMA_SECRET, database]).then(
        () => true as const,
        () => null,
      );
    await until(isMade, 60_000, 'the tables to be made');
    await server.stop();
    const hash = `console.log(require('${join(modules, 'bcryptjs')}').hashSync('${ADMIN.password}', 8))`;
    const password = (await run('node', ['-e', hash])).trim();
    await run('python3', ['-c', ADD_KUMA_USER, database, ADMIN.identifier, password, RAW_TOTP_SECRET]);
    server = await serve();
    const account = { ...ADMIN, totpSecret: Secret.fromUTF8(RAW_TOTP_SECRET).base32 };
    return {
      domain: `localhost:${port}`,
      account,
      endSessions: async () => {
        await server.stop();
        await run('python3', ['-c', END_KUMA_SESSIONS, database]);
        server = await serve();
      },
      byHand: async (page) => {
        await page.goto(url);
        await page.fill('#floatingInput', account.identifier);
        await page.fill('#floatingPassword', account.password);
        await page.click('button[type=submit]');
        await page.fill('#otp', new TOTP({ secret: account.totpSecret }).generate());
        await page.click('button[type=submit]');
        await page.waitForSelector('a[href="/add"]');
      },
      stop: () => server.stop(),
    };
  },
};

const QBITTORRENT = [
  'qbittorrent-nox',
  'libpcre2-16-0',
  'libqt5core5a',
  'libqt5dbus5',
  'libqt5network5',
  'libqt5sql5',
  'libqt5sql5-sqlite',
  'libqt5xml5',
  'libtorrent-rasterbar2.0',
  'libdouble-conversion3',
];

const qBittorrent: Application = {
  name: 'qBittorrent',
  madeOf: 'Qt, MooTools; form and application at one address, a refusal in a line of text',
  installedAs: 'qbittorrent',
  install: (folder) => debianFiles(folder, QBITTORRENT),
  start: async ({ folder, data, port }) => {
    const settings = join(data, 'qBittorrent', 'config');
    await mkdir(settings, { recursive: true });
    const lines = [
      '[LegalNotice]',
      'Accepted=true',
      '[Preferences]',
      'WebUI\\Address=127.0.0.1',
      'WebUI\\LocalHostAuth=true',
      'WebUI\\MaxAuthenticationFailCount=100',
    ];
    await writeFile(join(settings, 'qBittorrent.conf'), lines.join('\n'));
    const url = `http://localhost:${port}`;
    const env = { LD_LIBRARY_PATH: join(folder, 'usr', 'lib', 'x86_64-linux-gnu') };
    const args = [`--profile=${data}`, `--webui-port=${port}`];
    const serve = () => startServer(join(folder, 'usr', 'bin', 'qbittorrent-nox'), args, url, { env, cwd: data });
    let server = await serve();
    const account = { identifier: 'admin', password: 'adminadmin' };
    return {
      domain: `localhost:${port}`,
      account,
      // Its sessions are in memory.
      endSessions: async () => {
        await server.stop();
        server = await serve();
      },
      byHand: async (page) => {
        await page.goto(url);
        await page.fill('#username', account.identifier);
        await page.fill('#password', account.password);
        await page.press('#password', 'Enter');
        await page.waitForSelector('#torrentsTableDiv, #desktopNavbar');
      },
      stop: () => server.stop(),
    };
  },
};

const END_FOSSIL_SESSIONS =
  "import sqlite3,sys; c=sqlite3.connect(sys.argv[1]); c.execute('update user set cookie=null, cexpire=0'); c.commit()";

const fossil: Application = {
  name: 'Fossil',
  madeOf: 'C only, its own pages; a public home page, a captcha next to the form for people without an account',
  installedAs: 'fossil',
  install: (folder) => debianFiles(folder, ['fossil', 'libfuse2', 'libtcl8.6']),
  start: async ({ folder, data, port }) => {
    await mkdir(data, { recursive: true });
    const program = join(folder, 'usr', 'bin', 'fossil');
    const env = {
      ...process.env,
      LD_LIBRARY_PATH: ['lib', 'usr/lib'].map((part) => join(folder, part, 'x86_64-linux-gnu')).join(':'),
      HOME: data,
      USER: 'ada',
    };
    const repository = join(data, 'project.fossil');
    await run(program, ['init', repository, '--admin-user', 'ada'], { cwd: data, env });
    await run(program, ['user', 'password', 'ada', ADMIN.password, '-R', repository], { cwd: data, env });
    const url = `http://localhost:${port}`;
    const args = ['server', repository, '--port', String(port), '--localhost', '--nojail'];
    const server = await startServer(program, args, url, { cwd: data, env });
    return {
      domain: `localhost:${port}`,
      account: { identifier: 'ada', password: ADMIN.password },
      endSessions: async () => {
        await run('python3', ['-c', END_FOSSIL_SESSIONS, repository]);
      },
      byHand: async (page) => {
        await page.goto(`${url}/login`);
        await page.fill('[name=u]', 'ada');
        await page.fill('[name=p]', ADMIN.password);
        await page.click('[name=in]');
        await page.waitForSelector('a[href*="/logout"], a[href*="/setup"]');
      },
      stop: () => server.stop(),
    };
  },
};

/** What people run at home or for a small project. */
export const HOME_SERVERS: readonly Application[] = [deluge, signalK, uptimeKuma, qBittorrent, fossil];
