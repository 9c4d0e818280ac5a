import { createHash } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Secret } from 'otpauth';
import { waitFor } from '../../test/e2e/until.ts';
import type { Application } from './application.ts';
import { authenticatorCode, fillLoginForm } from './login-by-hand.ts';
import {
  debianFiles,
  executeSql,
  npmPackages,
  pythonPackages,
  run,
  startRestartable,
  startServer,
} from './server-process.ts';

const ADMIN = { identifier: 'admin', password: 'Correct-horse-battery-9' };
const ADA = { identifier: 'ada', password: ADMIN.password };
/** Uptime Kuma stores the raw characters, not base32. */
const RAW_TOTP_SECRET = 'holdfast-bench-totp7';

const deluge: Application = {
  name: 'Deluge',
  builtWith: 'Twisted, Ext JS 3; password only, in a dialog over an empty application frame',
  installedAs: 'deluge',
  install: (folder) => pythonPackages(folder, ['deluge==2.2.*', 'setuptools<81']),
  start: async ({ folder, data, port, url }) => {
    const salt = 'c26ab3bbd8b137f99cd83c2c1c0963bcc1a35cad';
    const hash = createHash('sha1')
      .update(salt + ADMIN.password)
      .digest('hex');
    const config = join(data, 'web.conf');
    const settings = { pwd_salt: salt, pwd_sha1: hash, first_login: false, sessions: {} };
    const write = () => writeFile(config, `{"file": 2, "format": 1}${JSON.stringify(settings)}`);
    await write();
    const args = ['-d', '-c', data, '-i', '127.0.0.1', '-p', String(port)];
    const serve = () => startServer(join(folder, 'bin', 'deluge-web'), args, url);
    const server = await startRestartable(serve, write);
    return {
      ...server,
      account: ADMIN,
      byHand: async (page) => {
        await fillLoginForm(page, url, ADMIN, [null, 'input[type=password]']);
        await page.waitForSelector('text=Connection Manager >> visible=true');
      },
    };
  },
};

/** The administrator's password, hashed by the bcryptjs in `modules`. */
async function bcryptHash(modules: string): Promise<string> {
  const script = `console.log(require('${join(modules, 'bcryptjs')}').hashSync('${ADMIN.password}', 8))`;
  return (await run('node', ['-e', script])).trim();
}

const signalK: Application = {
  name: 'Signal K',
  builtWith: 'Express, React, CoreUI; a public home page, the form at a hash address',
  installedAs: 'signalk',
  install: async (folder) => {
    await npmPackages(folder, ['signalk-server@2', 'bcryptjs@2']);
    // It looks for its pages inside its own folder, where a global installation puts them.
    const link = 'mkdir -p signalk-server/node_modules && ln -sfn ../../@signalk signalk-server/node_modules/@signalk';
    await run('sh', ['-c', link], { cwd: join(folder, 'node_modules') });
  },
  start: async ({ folder, data, port, url }) => {
    const modules = join(folder, 'node_modules');
    const settings = {
      interfaces: {},
      ssl: false,
      mdns: false,
      pipedProviders: [],
      security: { strategy: './tokensecurity' },
    };
    await writeFile(join(data, 'settings.json'), JSON.stringify(settings));
    const password = await bcryptHash(modules);
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
    const program = join(modules, 'signalk-server', 'bin', 'signalk-server');
    const env = {
      PORT: String(port),
      EXTERNALPORT: String(port),
      TCPSTREAMPORT: String(port + 1),
      NMEA0183PORT: String(port + 2),
    };
    const serve = () => startServer('node', [program, '-c', data], `${url}/signalk`, { cwd: data, env });
    const server = await startRestartable(serve, () => secure('b'));
    return {
      ...server,
      account: ADMIN,
      byHand: async (page) => {
        await fillLoginForm(page, `${url}/admin/#/login`, ADMIN, ['input[name=username]', 'input[name=password]']);
        await page.waitForSelector('text=/log ?out/i');
      },
    };
  },
};

/** True once Uptime Kuma has stored its secret, else null. */
async function hasKumaSecret(database: string): Promise<true | null> {
  const script =
    'import sqlite3,sys; c=sqlite3.connect(sys.argv[1]); assert c.execute("select 1 from setting where key=\'jwtSecret\'").fetchone()';
  return await run('python3', ['-c', script, database]).then(
    () => true,
    () => null,
  );
}

const uptimeKuma: Application = {
  name: 'Uptime Kuma with an authenticator',
  builtWith:
    'Express, Vue, Bootstrap 5 over a websocket; the code replaces the fields, the session is a token in localStorage',
  installedAs: 'uptime-kuma',
  install: async (folder) => {
    await npmPackages(folder, ['uptime-kuma@2.0.0-dev.0']);
    // The package has some of its migrations one folder above the one that it reads.
    await run('sh', ['-c', 'cp patch*.sql old_migrations/'], {
      cwd: join(folder, 'node_modules', 'uptime-kuma', 'db'),
    });
  },
  start: async ({ folder, data, port, url }) => {
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
    const firstRun = await serve();
    // It serves pages before its tables exist; its secret is stored after the last of them is created.
    await waitFor(() => hasKumaSecret(database), 60_000, 'the tables to be created');
    await firstRun.stop();
    const password = await bcryptHash(modules);
    await executeSql(
      database,
      'insert into user(username,password,active,twofa_secret,twofa_status) values(?,?,1,?,1)',
      [ADMIN.identifier, password, RAW_TOTP_SECRET],
    );
    const server = await startRestartable(serve, () =>
      executeSql(database, `update setting set value='"another"' where key='jwtSecret'`),
    );
    const account = { ...ADMIN, totpSecret: Secret.fromUTF8(RAW_TOTP_SECRET).base32 };
    return {
      ...server,
      account,
      byHand: async (page) => {
        await fillLoginForm(page, url, account, ['#floatingInput', '#floatingPassword', 'button[type=submit]']);
        await page.fill('#otp', authenticatorCode(account.totpSecret));
        await page.click('button[type=submit]');
        await page.waitForSelector('a[href="/add"]');
      },
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
  builtWith: 'Qt, MooTools; form and application at one address, a refusal in a line of text',
  installedAs: 'qbittorrent',
  install: (folder) => debianFiles(folder, QBITTORRENT),
  start: async ({ folder, data, port, url }) => {
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
    const env = { LD_LIBRARY_PATH: join(folder, 'usr', 'lib', 'x86_64-linux-gnu') };
    const args = [`--profile=${data}`, `--webui-port=${port}`];
    const serve = () => startServer(join(folder, 'usr', 'bin', 'qbittorrent-nox'), args, url, { env, cwd: data });
    // Sessions are in memory.
    const server = await startRestartable(serve);
    const account = { identifier: 'admin', password: 'adminadmin' };
    return {
      ...server,
      account,
      byHand: async (page) => {
        await fillLoginForm(page, url, account, ['#username', '#password']);
        await page.waitForSelector('#torrentsTableDiv, #desktopNavbar');
      },
    };
  },
};

const fossil: Application = {
  name: 'Fossil',
  builtWith: 'C only, its own pages; a public home page, a captcha next to the form for people without an account',
  installedAs: 'fossil',
  install: (folder) => debianFiles(folder, ['fossil', 'libfuse2', 'libtcl8.6']),
  start: async ({ folder, data, port, url }) => {
    const program = join(folder, 'usr', 'bin', 'fossil');
    const env = {
      LD_LIBRARY_PATH: ['lib', 'usr/lib'].map((part) => join(folder, part, 'x86_64-linux-gnu')).join(':'),
      HOME: data,
      USER: 'ada',
    };
    const repository = join(data, 'project.fossil');
    await run(program, ['init', repository, '--admin-user', 'ada'], { cwd: data, env });
    await run(program, ['user', 'password', 'ada', ADMIN.password, '-R', repository], { cwd: data, env });
    const args = ['server', repository, '--port', String(port), '--localhost', '--nojail'];
    const server = await startServer(program, args, url, { cwd: data, env });
    return {
      ...server,
      account: ADA,
      endSessions: () => executeSql(repository, 'update user set cookie=null, cexpire=0'),
      byHand: async (page) => {
        await fillLoginForm(page, `${url}/login`, ADA, ['[name=u]', '[name=p]', '[name=in]']);
        await page.waitForSelector('a[href*="/logout"], a[href*="/setup"]');
      },
    };
  },
};

/** Servers that people run at home or for a small project. */
export const HOME_SERVERS: readonly Application[] = [deluge, signalK, uptimeKuma, qBittorrent, fossil];
