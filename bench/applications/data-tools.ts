import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Application } from './application.ts';
import { pythonPackages, run, startServer } from './server-process.ts';

const ADMIN = { identifier: 'admin', password: 'Correct-horse-battery-9' };

const airflow: Application = {
  name: 'Airflow',
  madeOf: 'FastAPI, React, Chakra UI; a different application behind the one that logs in',
  installedAs: 'airflow',
  install: async (folder) => {
    await pythonPackages(folder, ['apache-airflow==3.*']);
  },
  start: async ({ folder, data, port }) => {
    await mkdir(data, { recursive: true });
    const url = `http://localhost:${port}`;
    const program = join(folder, 'bin', 'airflow');
    const passwords = join(data, 'passwords.json');
    await writeFile(passwords, JSON.stringify({ [ADMIN.identifier]: ADMIN.password }));
    const env = (secret: string): NodeJS.ProcessEnv => ({
      ...process.env,
      AIRFLOW_HOME: data,
      AIRFLOW__CORE__LOAD_EXAMPLES: 'False',
      AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_USERS: `${ADMIN.identifier}:admin`,
      AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_PASSWORDS_FILE: passwords,
      AIRFLOW__API__BASE_URL: url,
      AIRFLOW__API_AUTH__JWT_SECRET: secret.repeat(64),
      AIRFLOW__API__SECRET_KEY: secret.repeat(32),
    });
    await run(program, ['db', 'migrate'], { env: env('a'), cwd: data });
    const args = ['api-server', '--host', '127.0.0.1', '--port', String(port), '--workers', '1'];
    const serve = (secret: string) => startServer(program, args, `${url}/auth/login`, { env: env(secret), cwd: data });
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
        await page.fill('[name=username]', ADMIN.identifier);
        await page.fill('[name=password]', ADMIN.password);
        await page.click('button[type=submit]');
        await page.waitForSelector('text=/^Dags$/');
      },
      stop: () => server.stop(),
    };
  },
};

/** What people work on data with. */
export const DATA_TOOLS: readonly Application[] = [airflow];
