import { existsSync } from 'node:fs';
import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import type { Application } from './application.ts';
import { npmPackages, run, startServer } from './server-process.ts';

const ADA = { identifier: 'ada', password: 'Correct-horse-battery-9' };

/** The package has WordPress in two parts, the pages' files apart, and what keeps its data in SQLite in a third. */
const ONE_FOLDER = [
  'parts=node_modules/@wp-playground/wordpress-builds',
  'mkdir -p site',
  'cp -r $parts/public/wp-6.5/. site/',
  'unzip -q -o $parts/src/wordpress/wp-6.5.zip -d site',
  'unzip -q -o $parts/src/sqlite-database-integration/sqlite-database-integration.zip -d site/wp-content/plugins',
  'mv site/wp-content/plugins/sqlite-database-integration* site/wp-content/plugins/sqlite || true',
].join(' && ');

const END_WORDPRESS_SESSIONS =
  'import sqlite3,sys; c=sqlite3.connect(sys.argv[1]); c.execute("delete from wp_usermeta where meta_key=\'session_tokens\'"); c.commit()';

const wordPress: Application = {
  name: 'WordPress',
  madeOf: 'PHP, jQuery; "remember me", a language list below the form',
  installedAs: 'wordpress',
  install: async (folder) => {
    await npmPackages(folder, ['@wp-playground/wordpress-builds@0.9.19']);
    if (!existsSync(join(folder, 'site'))) await run('sh', ['-c', ONE_FOLDER], { cwd: folder });
  },
  start: async ({ folder, data, port }) => {
    const url = `http://localhost:${port}`;
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
      domain: `localhost:${port}`,
      loginUrl: `${url}/wp-admin/`,
      account,
      endSessions: async () => {
        await run('python3', ['-c', END_WORDPRESS_SESSIONS, join(content, 'database', '.ht.sqlite')]);
      },
      byHand: async (page) => {
        await page.goto(`${url}/wp-login.php`);
        await page.fill('#user_login', account.identifier);
        await page.fill('#user_pass', account.password);
        await page.click('#wp-submit');
        // The administrator is asked now and then whether the address for mail is still right.
        await page.waitForSelector('#wpadminbar, .admin-email__heading');
      },
      stop: () => server.stop(),
    };
  },
};

/** What people write and publish with. */
export const CONTENT: readonly Application[] = [wordPress];
