import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Secret, TOTP } from 'otpauth';
import type { Application } from './application.ts';
import { debianFiles, run, startServer } from './server-process.ts';

const ADA = {
  identifier: 'Ada',
  password: 'Correct-horse-battery-9',
  totpSecret: Secret.fromUTF8('holdfast-bench-totp2').base32,
};

/** Debian keeps the parts of MediaWiki in several folders and links them to fixed places; here they are one. */
const ONE_FOLDER = [
  'cp -r usr/share/mediawiki site',
  'cd site',
  'rm LocalSettings.php config extensions images',
  'mv extensions-core extensions',
  'mkdir images',
].join(' && ');

const GIVE_AUTHENTICATOR =
  "import json,sqlite3,sys; c=sqlite3.connect(sys.argv[1]); c.execute('insert into oathauth_users(id,module,data) values (1,?,?)', ('totp', json.dumps({'keys':[{'secret':sys.argv[2],'scratch_tokens':[]}]}))); c.commit()";
const END_SESSIONS =
  "import sqlite3,sys; c=sqlite3.connect(sys.argv[1]); c.execute('delete from objectcache'); c.commit()";

const mediaWiki: Application = {
  name: 'MediaWiki with an authenticator',
  madeOf: 'PHP, OOUI; the code on a separate page',
  installedAs: 'mediawiki',
  install: async (folder) => {
    await debianFiles(folder, ['mediawiki', 'mediawiki-classes']);
    if (!existsSync(join(folder, 'site'))) await run('sh', ['-c', ONE_FOLDER], { cwd: folder });
  },
  start: async ({ folder, data, port }) => {
    await mkdir(data, { recursive: true });
    const site = join(folder, 'site');
    const url = `http://localhost:${port}`;
    const settings: [string, string][] = [
      ['--dbtype', 'sqlite'],
      ['--dbpath', data],
      ['--dbname', 'wiki'],
      ['--confpath', data],
      ['--server', url],
      ['--scriptpath', ''],
      ['--skins', 'Vector'],
      ['--pass', ADA.password],
    ];
    await run(
      'php',
      ['maintenance/install.php', ...settings.flat(), '--with-extensions=OATHAuth', 'Wiki', ADA.identifier],
      { cwd: site },
    );
    await run('python3', ['-c', GIVE_AUTHENTICATOR, join(data, 'wiki.sqlite'), ADA.totpSecret]);
    const server = await startServer('php', ['-S', `localhost:${port}`, '-t', site], `${url}/index.php/Main_Page`, {
      env: { MW_CONFIG_FILE: join(data, 'LocalSettings.php'), PHP_CLI_SERVER_WORKERS: '4' },
    });
    return {
      domain: `localhost:${port}`,
      account: ADA,
      endSessions: async () => {
        await run('python3', ['-c', END_SESSIONS, join(data, 'wikicache.sqlite')]);
      },
      byHand: async (page) => {
        await page.goto(`${url}/index.php?title=Special:UserLogin`);
        await page.fill('#wpName1', ADA.identifier);
        await page.fill('#wpPassword1', ADA.password);
        await page.click('#wpLoginAttempt');
        await page.fill('input[name=OATHToken]', new TOTP({ secret: ADA.totpSecret }).generate());
        await page.click('button[type=submit]');
        await page.waitForSelector('#pt-logout', { state: 'attached' });
      },
      stop: () => server.stop(),
    };
  },
};

/** Applications from Debian. */
export const PHP: readonly Application[] = [mediaWiki];
