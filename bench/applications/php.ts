import { existsSync } from 'node:fs';
import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { Secret } from 'otpauth';
import type { Application } from './application.ts';
import { authenticatorCode, fillLoginForm } from './login-by-hand.ts';
import { debianFiles, executeSql, npmPackages, optionArguments, run, startServer } from './server-process.ts';

const ADA = {
  identifier: 'Ada',
  password: 'Correct-horse-battery-9',
  totpSecret: Secret.fromUTF8('holdfast-bench-totp2').base32,
};

/** Debian splits MediaWiki over several folders with absolute links; this merges them into one. */
const MERGE_MEDIAWIKI = [
  'cp -r usr/share/mediawiki site',
  'cd site',
  'rm LocalSettings.php config extensions images',
  'mv extensions-core extensions',
  'mkdir images',
].join(' && ');

const mediaWiki: Application = {
  name: 'MediaWiki with an authenticator',
  builtWith: 'PHP, OOUI; the code on a separate page',
  installedAs: 'mediawiki',
  install: async (folder) => {
    await debianFiles(folder, ['mediawiki', 'mediawiki-classes']);
    if (!existsSync(join(folder, 'site'))) await run('sh', ['-c', MERGE_MEDIAWIKI], { cwd: folder });
  },
  start: async ({ folder, data, port, url }) => {
    const site = join(folder, 'site');
    const options = optionArguments({
      dbtype: 'sqlite',
      dbpath: data,
      dbname: 'wiki',
      confpath: data,
      server: url,
      scriptpath: '',
      skins: 'Vector',
      pass: ADA.password,
      'with-extensions': 'OATHAuth',
    });
    await run('php', ['maintenance/install.php', ...options, 'Wiki', ADA.identifier], { cwd: site });
    const keys = JSON.stringify({ keys: [{ secret: ADA.totpSecret, scratch_tokens: [] }] });
    const addAuthenticator = 'insert into oathauth_users(id,module,data) values (1,?,?)';
    await executeSql(join(data, 'wiki.sqlite'), addAuthenticator, ['totp', keys]);
    const server = await startServer('php', ['-S', `localhost:${port}`, '-t', site], `${url}/index.php/Main_Page`, {
      env: { MW_CONFIG_FILE: join(data, 'LocalSettings.php'), PHP_CLI_SERVER_WORKERS: '4' },
    });
    return {
      ...server,
      account: ADA,
      endSessions: () => executeSql(join(data, 'wikicache.sqlite'), 'delete from objectcache'),
      byHand: async (page) => {
        await fillLoginForm(page, `${url}/index.php?title=Special:UserLogin`, ADA, [
          '#wpName1',
          '#wpPassword1',
          '#wpLoginAttempt',
        ]);
        await page.fill('input[name=OATHToken]', authenticatorCode(ADA.totpSecret));
        await page.click('button[type=submit]');
        await page.waitForSelector('#pt-logout', { state: 'attached' });
      },
    };
  },
};

/** The package ships WordPress in two parts and its SQLite driver in a third; this merges them into one. */
const MERGE_WORDPRESS = [
  'parts=node_modules/@wp-playground/wordpress-builds',
  'mkdir -p site',
  'cp -r $parts/public/wp-6.5/. site/',
  'unzip -q -o $parts/src/wordpress/wp-6.5.zip -d site',
  'unzip -q -o $parts/src/sqlite-database-integration/sqlite-database-integration.zip -d site/wp-content/plugins',
  'mv site/wp-content/plugins/sqlite-database-integration* site/wp-content/plugins/sqlite || true',
].join(' && ');

const wordPress: Application = {
  name: 'WordPress',
  builtWith: 'PHP, jQuery; "remember me", a language list below the form',
  installedAs: 'wordpress',
  install: async (folder) => {
    await npmPackages(folder, ['@wp-playground/wordpress-builds@0.9.19']);
    if (!existsSync(join(folder, 'site'))) await run('sh', ['-c', MERGE_WORDPRESS], { cwd: folder });
  },
  start: async ({ folder, data, port, url }) => {
    const site = join(data, 'site');
    await cp(join(folder, 'site'), site, { recursive: true });
    const content = join(site, 'wp-content');
    const patch = [
      `sed -e "s@'{SQLITE_IMPLEMENTATION_FOLDER_PATH}'@'${content}/plugins/sqlite'@; s@{SQLITE_PLUGIN}@sqlite/load.php@" ${content}/plugins/sqlite/db.copy > ${content}/db.php`,
      `sed -i "s@^<?php@<?php define('WP_HOME','${url}'); define('WP_SITEURL','${url}');@" ${site}/wp-config.php`,
    ].join(' && ');
    await run('sh', ['-c', patch]);
    const setUp = `require '${site}/wp-load.php'; wp_set_password('${ADA.password}', 1);`;
    await run('php', ['-r', setUp], { cwd: site });
    const server = await startServer('php', ['-S', `localhost:${port}`, '-t', site], `${url}/wp-login.php`, {
      env: { PHP_CLI_SERVER_WORKERS: '4' },
    });
    const account = { identifier: 'admin', password: ADA.password };
    return {
      ...server,
      loginUrl: `${url}/wp-admin/`,
      account,
      endSessions: () =>
        executeSql(join(content, 'database', '.ht.sqlite'), "delete from wp_usermeta where meta_key='session_tokens'"),
      byHand: async (page) => {
        await fillLoginForm(page, `${url}/wp-login.php`, account, ['#user_login', '#user_pass', '#wp-submit']);
        // WordPress sometimes asks the administrator to confirm the e-mail address.
        await page.waitForSelector('#wpadminbar, .admin-email__heading');
      },
    };
  },
};

/** Applications in PHP. */
export const PHP: readonly Application[] = [mediaWiki, wordPress];
