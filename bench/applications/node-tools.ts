import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Application } from './application.ts';
import { npmPackages, run, startServer } from './server-process.ts';

const PASSWORD = 'Correct-horse-battery-9';

const ungit: Application = {
  name: 'Ungit',
  madeOf: "Express, Knockout, Bootstrap 3; the form rendered after a server request, at the application's address",
  installedAs: 'ungit',
  install: (folder) => npmPackages(folder, ['ungit@1.5.30']),
  start: async ({ folder, data, port }) => {
    const account = { identifier: 'ada', password: PASSWORD };
    const repository = join(data, 'repository');
    await mkdir(repository, { recursive: true });
    const settings = {
      port,
      ungitBindIp: '127.0.0.1',
      authentication: true,
      users: { [account.identifier]: account.password },
      launchBrowser: false,
      bugtracking: false,
    };
    // It looks for its settings where its user lives.
    await writeFile(join(data, '.ungitrc'), JSON.stringify(settings));
    const url = `http://localhost:${port}`;
    const program = join(folder, 'node_modules', 'ungit', 'bin', 'ungit');
    const serve = () => startServer('node', [program], url, { cwd: repository, env: { HOME: data } });
    let server = await serve();
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
        await page.fill('#inputUsername', account.identifier);
        await page.fill('#inputPassword', account.password);
        await page.press('#inputPassword', 'Enter');
        await page.waitForSelector('#inputPassword', { state: 'detached' });
      },
      stop: () => server.stop(),
    };
  },
};

const sillyTavern: Application = {
  name: 'SillyTavern',
  madeOf: 'Express, jQuery; fields outside any form, an application page of several megabytes',
  installedAs: 'sillytavern',
  install: (folder) => npmPackages(folder, ['sillytavern@1']),
  start: async ({ folder, data, port }) => {
    await mkdir(data, { recursive: true });
    const program = join(folder, 'node_modules', 'sillytavern');
    const config = join(data, 'config.yaml');
    const state = join(data, 'state');
    const settings = [
      `dataRoot: ${state}`,
      'listen: false',
      'enableUserAccounts: true',
      'enableDiscreetLogin: true',
      'browserLaunch: { enabled: false }',
    ];
    await writeFile(config, settings.join('\n'));
    const url = `http://localhost:${port}`;
    const args = [join(program, 'server.js'), '--configPath', config, '--dataRoot', state, '--port', String(port)];
    const serve = () => startServer('node', args, url, { cwd: data });
    // Its first start makes the one user, whom its own script then gives a password.
    await (await serve()).stop();
    await run('node', [join(program, 'recover.js'), 'default-user', PASSWORD], { cwd: data });
    let server = await serve();
    const account = { identifier: 'default-user', password: PASSWORD };
    return {
      domain: `localhost:${port}`,
      account,
      // The session is a signed cookie.
      endSessions: async () => {
        await server.stop();
        await rm(join(state, 'cookie-secret.txt'));
        server = await serve();
      },
      byHand: async (page) => {
        await page.goto(url);
        await page.fill('#userHandle', account.identifier);
        await page.fill('#userPassword', account.password);
        await page.click('#loginButton');
        await page.waitForSelector('#send_textarea');
      },
      stop: () => server.stop(),
    };
  },
};

/** What developers and tinkerers run from npm. */
export const NODE_TOOLS: readonly Application[] = [ungit, sillyTavern];
