import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { Secret, TOTP } from 'otpauth';
import type { Account, Application } from './application.ts';
import { mavenArchive, npmPackages, startServer, type ServerProcess } from './server-process.ts';

const VERSION = '26.0.8';
const ARCHIVE = `org.keycloak:keycloak-quarkus-dist:${VERSION}:zip`;
const PASSWORD = 'Correct-horse-battery-9';
/** As Keycloak keeps it: raw characters, not base32. */
const RAW_TOTP_SECRET = 'holdfast-bench-totp1';
const TOTP_SECRET = Secret.fromUTF8(RAW_TOTP_SECRET).base32;

/** A realm with two people, one of them with an authenticator, and a client for the application beside it. */
function realm(clientUrl: string, asksConsent: boolean): string {
  const password = { type: 'password', value: PASSWORD, temporary: false };
  const otp = {
    type: 'otp',
    secretData: JSON.stringify({ value: RAW_TOTP_SECRET }),
    credentialData: JSON.stringify({ subType: 'totp', digits: 6, period: 30, algorithm: 'HmacSHA1' }),
  };
  const user = (username: string, credentials: unknown[]) => ({
    username,
    email: `${username}@example.test`,
    emailVerified: true,
    firstName: 'Ada',
    lastName: 'Archer',
    enabled: true,
    credentials,
    realmRoles: ['default-roles-demo'],
    clientRoles: { account: ['manage-account', 'view-profile'] },
  });
  return JSON.stringify({
    realm: 'demo',
    enabled: true,
    sslRequired: 'none',
    users: [user('ada', [password]), user('grace', [password, otp])],
    clients: [
      {
        clientId: 'portal',
        secret: 'portal-secret',
        redirectUris: [`${clientUrl}/*`],
        consentRequired: asksConsent,
        attributes: { 'post.logout.redirect.uris': `${clientUrl}/*` },
      },
    ],
  });
}

/** Starts Keycloak; every session is in memory, so that a restart ends them all. */
async function startKeycloak(
  folder: string,
  data: string,
  port: number,
  clientUrl: string,
  asksConsent = false,
): Promise<ServerProcess> {
  const home = join(folder, `keycloak-${VERSION}`);
  await rm(join(home, 'data', 'h2'), { recursive: true, force: true });
  await mkdir(join(home, 'data', 'import'), { recursive: true });
  await writeFile(join(home, 'data', 'import', 'demo-realm.json'), realm(clientUrl, asksConsent));
  await mkdir(data, { recursive: true });
  return startServer(
    join(home, 'bin', 'kc.sh'),
    ['start-dev', '--import-realm', '--http-host', '127.0.0.1', '--http-port', String(port)],
    `http://localhost:${port}/realms/demo`,
    {
      env: {
        KC_BOOTSTRAP_ADMIN_USERNAME: 'root',
        KC_BOOTSTRAP_ADMIN_PASSWORD: PASSWORD,
        JAVA_OPTS_KC_HEAP: '-Xmx400m',
      },
    },
  );
}

/** What an administrator does in the console: everybody out. */
async function logOutEverybody(url: string): Promise<void> {
  const form = new URLSearchParams({
    grant_type: 'password',
    client_id: 'admin-cli',
    username: 'root',
    password: PASSWORD,
  });
  const answer = await fetch(`${url}/realms/master/protocol/openid-connect/token`, { method: 'POST', body: form });
  const token = /"access_token":"([^"]+)"/.exec(await answer.text())?.[1] ?? '';
  await fetch(`${url}/admin/realms/demo/logout-all`, { method: 'POST', headers: { authorization: `Bearer ${token}` } });
}

async function signIn(page: Page, account: Account): Promise<void> {
  await page.fill('#username', account.identifier);
  await page.fill('#password', account.password);
  await page.click('#kc-login');
}

function keycloak(name: string, account: Account): Application {
  return {
    name,
    madeOf: 'Quarkus, PatternFly, React; OpenID Connect with PKCE',
    installedAs: 'keycloak',
    install: (folder) => mavenArchive(folder, ARCHIVE),
    start: async ({ folder, data, port }) => {
      const url = `http://localhost:${port}`;
      const server = await startKeycloak(folder, data, port, url);
      return {
        domain: `localhost:${port}`,
        loginUrl: `${url}/realms/demo/account`,
        account,
        endSessions: () => logOutEverybody(url),
        byHand: async (page) => {
          await page.goto(`${url}/realms/demo/account`);
          await signIn(page, account);
          if (account.totpSecret !== undefined) {
            await page.fill('#otp', new TOTP({ secret: account.totpSecret }).generate());
            await page.click('#kc-login');
          }
          await page.waitForSelector('[data-testid="account-console-page"], .pf-v5-c-page__main, #email');
        },
        stop: () => server.stop(),
      };
    },
  };
}

const CAS_ARCHIVE = 'org.apereo.cas:cas-server-webapp-tomcat:6.6.12:war';

const cas: Application = {
  name: 'Apereo CAS',
  madeOf: 'Spring, Thymeleaf, Material Components; an identity server with its own protocol',
  installedAs: 'cas',
  install: (folder) => mavenArchive(folder, CAS_ARCHIVE),
  start: async ({ folder, data, port }) => {
    await mkdir(data, { recursive: true });
    const url = `http://localhost:${port}`;
    const settings = {
      'server.port': String(port),
      'server.ssl.enabled': 'false',
      'cas.server.name': url,
      'cas.standalone.configuration-directory': data,
      'cas.tgc.secure': 'false',
      'cas.authn.accept.users': `ada::${PASSWORD}`,
      'logging.level.root': 'error',
    };
    const parts = ['classes', join('lib', '*')].map((part) => join(folder, 'WEB-INF', part)).join(':');
    const program = ['-Xmx600m', '-cp', parts, 'org.apereo.cas.web.CasWebApplication'];
    const args = Object.entries(settings).map(([name, value]) => `--${name}=${value}`);
    const serve = () => startServer('java', [...program, ...args], `${url}/cas/login`, { cwd: data });
    let server = await serve();
    return {
      domain: `localhost:${port}`,
      loginUrl: `${url}/cas/login`,
      account: { identifier: 'ada', password: PASSWORD },
      // Its tickets are in memory.
      endSessions: async () => {
        await server.stop();
        server = await serve();
      },
      byHand: async (page) => {
        await page.goto(`${url}/cas/login`);
        await page.fill('#username', 'ada');
        await page.fill('#password', PASSWORD);
        await page.click('[name=submitBtn]');
        await page.waitForSelector('a[href*="logout"]');
      },
      stop: () => server.stop(),
    };
  },
};

/** A site without accounts of its own: one button, and Keycloak at another address. */
function portal(asksConsent: boolean): Application {
  return {
    name: asksConsent ? 'A portal that Keycloak asks consent for' : 'A portal behind Keycloak',
    madeOf: `Express, express-openid-connect, one provider button${asksConsent ? ', a consent page' : ''}`,
    installedAs: 'keycloak',
    install: async (folder) => {
      await mavenArchive(folder, ARCHIVE);
      await npmPackages(join(folder, 'portal'), ['express@4', 'express-openid-connect@2']);
    },
    start: async ({ folder, data, port }) => {
      const provider = `http://127.0.0.1:${port + 1}`;
      const url = `http://localhost:${port}`;
      const keycloakServer = await startKeycloak(folder, data, port + 1, url, asksConsent);
      const script = join(folder, 'portal', 'server.mjs');
      await writeFile(
        script,
        `import express from 'express';
import oidc from 'express-openid-connect';
const [secret] = process.argv.slice(2);
const app = express();
app.use(oidc.auth({ authRequired: false, secret, baseURL: '${url}', issuerBaseURL: '${provider}/realms/demo', clientID: 'portal', clientSecret: 'portal-secret', authorizationParams: { response_type: 'code' }, routes: { login: '/auth/keycloak' } }));
app.get('/', (req, res) => res.send(req.oidc.isAuthenticated()
  ? '<!doctype html><title>Portal</title><header>' + req.oidc.user.name + ' <a href="/logout">Log out</a></header><main><h1>Your orders</h1><p>Nothing was ordered yet.</p></main>'
  : '<!doctype html><title>Sign in - Portal</title><main><h1>Sign in to Portal</h1><a class="button" href="/auth/keycloak">Continue with Keycloak</a></main>'));
app.listen(${port}, '127.0.0.1');
`,
      );
      const serve = (secret: string) => startServer('node', [script, secret], url);
      let server = await serve('a'.repeat(40));
      const account = { identifier: 'ada', password: PASSWORD };
      return {
        domain: `localhost:${port}`,
        loginUrl: `${url}/`,
        account,
        choice: /keycloak|^yes$/i,
        endSessions: async () => {
          await server.stop();
          server = await serve('b'.repeat(40));
          await logOutEverybody(provider);
        },
        byHand: async (page) => {
          await page.goto(url);
          await page.click('a.button');
          await signIn(page, account);
          if (asksConsent) await page.click('#kc-login');
          await page.waitForSelector('a[href="/logout"]');
        },
        stop: async () => {
          await server.stop();
          await keycloakServer.stop();
        },
      };
    },
  };
}

/** Applications from Maven Central. */
export const JAVA: readonly Application[] = [
  cas,
  keycloak('Keycloak account console', { identifier: 'ada', password: PASSWORD }),
  keycloak('Keycloak with an authenticator', { identifier: 'grace', password: PASSWORD, totpSecret: TOTP_SECRET }),
  portal(false),
  portal(true),
];
