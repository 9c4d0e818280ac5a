import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { Secret } from 'otpauth';
import type { Account, Application } from './application.ts';
import { authenticatorCode, fillLoginForm } from './login-by-hand.ts';
import {
  mavenArchive,
  npmPackages,
  optionArguments,
  startRestartable,
  startServer,
  type ServerProcess,
} from './server-process.ts';

const VERSION = '26.0.8';
const ARCHIVE = `org.keycloak:keycloak-quarkus-dist:${VERSION}:zip`;
const PASSWORD = 'Correct-horse-battery-9';
const ADA = { identifier: 'ada', password: PASSWORD };
/** Keycloak stores the raw characters, not base32. */
const RAW_TOTP_SECRET = 'holdfast-bench-totp1';
const TOTP_SECRET = Secret.fromUTF8(RAW_TOTP_SECRET).base32;

/** A realm with two users, one of them with an authenticator, and a client for the portal. */
function realm(clientUrl: string, requiresConsent: boolean): string {
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
        consentRequired: requiresConsent,
        attributes: { 'post.logout.redirect.uris': `${clientUrl}/*` },
      },
    ],
  });
}

/** Starts Keycloak with an empty database. */
async function startKeycloak(
  folder: string,
  port: number,
  clientUrl: string,
  requiresConsent = false,
): Promise<ServerProcess> {
  const home = join(folder, `keycloak-${VERSION}`);
  await rm(join(home, 'data', 'h2'), { recursive: true, force: true });
  await mkdir(join(home, 'data', 'import'), { recursive: true });
  await writeFile(join(home, 'data', 'import', 'demo-realm.json'), realm(clientUrl, requiresConsent));
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

/** Logs out every user of the realm, as an administrator does in the console. */
async function logOutEveryone(url: string): Promise<void> {
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
    builtWith: 'Quarkus, PatternFly, React; OpenID Connect with PKCE',
    installedAs: 'keycloak',
    install: (folder) => mavenArchive(folder, ARCHIVE),
    start: async ({ folder, port, url }) => {
      const server = await startKeycloak(folder, port, url);
      return {
        ...server,
        loginUrl: `${url}/realms/demo/account`,
        account,
        endSessions: () => logOutEveryone(url),
        byHand: async (page) => {
          await page.goto(`${url}/realms/demo/account`);
          await signIn(page, account);
          if (account.totpSecret !== undefined) {
            await page.fill('#otp', authenticatorCode(account.totpSecret));
            await page.click('#kc-login');
          }
          await page.waitForSelector('[data-testid="account-console-page"], .pf-v5-c-page__main, #email');
        },
      };
    },
  };
}

const CAS_ARCHIVE = 'org.apereo.cas:cas-server-webapp-tomcat:6.6.12:war';

const cas: Application = {
  name: 'Apereo CAS',
  builtWith: 'Spring, Thymeleaf, Material Components; an identity server with its own protocol',
  installedAs: 'cas',
  install: (folder) => mavenArchive(folder, CAS_ARCHIVE),
  start: async ({ folder, data, port, url }) => {
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
    const serve = () =>
      startServer('java', [...program, ...optionArguments(settings)], `${url}/cas/login`, { cwd: data });
    // Tickets are in memory.
    const server = await startRestartable(serve);
    return {
      ...server,
      loginUrl: `${url}/cas/login`,
      account: ADA,
      byHand: async (page) => {
        await fillLoginForm(page, `${url}/cas/login`, ADA, ['#username', '#password', '[name=submitBtn]']);
        await page.waitForSelector('a[href*="logout"]');
      },
    };
  },
};

/** A site without accounts: one button, which leads to Keycloak on another host. */
function portal(requiresConsent: boolean): Application {
  return {
    name: requiresConsent ? 'A portal that Keycloak asks consent for' : 'A portal behind Keycloak',
    builtWith: `Express, express-openid-connect, one provider button${requiresConsent ? ', a consent page' : ''}`,
    installedAs: 'keycloak',
    install: async (folder) => {
      await mavenArchive(folder, ARCHIVE);
      await npmPackages(join(folder, 'portal'), ['express@4', 'express-openid-connect@2']);
    },
    start: async ({ folder, port, url }) => {
      const provider = `http://127.0.0.1:${port + 1}`;
      const keycloakServer = await startKeycloak(folder, port + 1, url, requiresConsent);
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
      const server = await startRestartable(serve);
      return {
        loginUrl: `${url}/`,
        account: ADA,
        choice: /keycloak|^yes$/i,
        endSessions: async () => {
          await server.endSessions();
          await logOutEveryone(provider);
        },
        byHand: async (page) => {
          await page.goto(url);
          await page.click('a.button');
          await signIn(page, ADA);
          if (requiresConsent) await page.click('#kc-login');
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
  keycloak('Keycloak account console', ADA),
  keycloak('Keycloak with an authenticator', { identifier: 'grace', password: PASSWORD, totpSecret: TOTP_SECRET }),
  portal(false),
  portal(true),
];
