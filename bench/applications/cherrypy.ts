import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Application } from './application.ts';
import { pythonPackages, run, startServer } from './server-process.ts';

const ADA = { identifier: 'ada', password: 'Correct-horse-battery-9' };

const END_RDIFFWEB_SESSIONS =
  "import sqlite3,sys; c=sqlite3.connect(sys.argv[1]); c.execute('delete from sessions'); c.commit()";

const rdiffweb: Application = {
  name: 'Rdiffweb',
  madeOf: 'CherryPy, Bootstrap 5; a refusal styled as an info message',
  installedAs: 'rdiffweb',
  install: async (folder) => {
    await pythonPackages(folder, ['rdiffweb']);
    // It starts only where it finds the program that makes the backups, of which there are none here.
    await writeFile(join(folder, 'bin', 'rdiff-backup'), '#!/bin/sh\n', { mode: 0o755 });
  },
  start: async ({ folder, data, port }) => {
    await mkdir(data, { recursive: true });
    const [bin, database] = [join(folder, 'bin'), join(data, 'rdw.db')];
    const url = `http://localhost:${port}`;
    const settings = { 'database-uri': database, 'server-host': '127.0.0.1', 'server-port': String(port) };
    const args = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value]);
    const env = { PATH: `${bin}:${process.env['PATH'] ?? ''}` };
    const server = await startServer(join(bin, 'rdiffweb'), args, `${url}/login/`, { env });
    const account = { identifier: 'admin', password: 'admin123' };
    return {
      domain: `localhost:${port}`,
      account,
      endSessions: async () => {
        await run('python3', ['-c', END_RDIFFWEB_SESSIONS, database]);
      },
      byHand: async (page) => {
        await page.goto(url);
        await page.fill('#login', account.identifier);
        await page.fill('#password', account.password);
        await page.click('button[type=submit]');
        await page.waitForSelector('[href*="logout"], [action*="logout"]', { state: 'attached' });
      },
      stop: () => server.stop(),
    };
  },
};

const cherryMusic: Application = {
  name: 'CherryMusic',
  madeOf: 'CherryPy, Bootstrap 3; a refusal without a message, the application at the address of the form',
  installedAs: 'cherrymusic',
  install: async (folder) => {
    await pythonPackages(folder, ['CherryMusic']);
  },
  start: async ({ folder, data, port }) => {
    const music = join(data, 'music');
    await mkdir(music, { recursive: true });
    const program = join(folder, 'bin', 'cherrymusic');
    const env = { XDG_DATA_HOME: data, XDG_CONFIG_HOME: data };
    const settings = ['--conf', `media.basedir=${music}`, 'server.localhost_auto_login=false'];
    const surroundings = { env: { ...process.env, ...env } };
    // The first start makes the file of settings, and ends.
    await run(program, [], surroundings);
    await run(program, ['--adduser', ADA.identifier, ADA.password, ...settings], surroundings);
    const url = `http://localhost:${port}`;
    const args = ['--port', String(port), ...settings, 'server.localhost_only=true'];
    const server = await startServer(program, args, url, { env });
    return {
      domain: `localhost:${port}`,
      account: ADA,
      endSessions: async () => {
        const sessions = join(data, 'cherrymusic', 'sessions');
        for (const name of await readdir(sessions)) await rm(join(sessions, name), { force: true });
      },
      byHand: async (page) => {
        await page.goto(url);
        await page.fill('input[name=username]', ADA.identifier);
        await page.fill('input[name=password]', ADA.password);
        await page.click('input[type=submit]');
        await page.waitForSelector('#logout-menu-button', { state: 'attached' });
      },
      stop: () => server.stop(),
    };
  },
};

/** What is made with CherryPy. */
export const CHERRYPY: readonly Application[] = [rdiffweb, cherryMusic];
