import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Secret } from 'otpauth';
import type { Application, Place, RunningApplication } from './application.ts';
import { createDjangoProject, type DjangoSite } from './django.ts';
import { authenticatorCode, fillLoginForm } from './login-by-hand.ts';
import { npmPackages, pythonPackages, startRestartable, startServer } from './server-process.ts';

const PASSWORD = 'Correct-horse-battery-9';
const TOTP_SECRET = Secret.fromUTF8('holdfast-bench-totp5').base32;

/** A site with django-allauth; `factor` is the second one. */
function allauth(factor: 'authenticator' | 'mail'): Application {
  return {
    name: factor === 'mail' ? 'django-allauth with a code by e-mail' : 'django-allauth with an authenticator',
    builtWith: 'Django, django-allauth, its own templates; the code on a separate page',
    installedAs: 'allauth',
    install: (folder) => pythonPackages(folder, ['django-allauth[mfa]==65.*', 'django==5.2.*']),
    start: (place) => startAllauth(place, factor),
  };
}

async function startAllauth(
  { folder, data, port, url }: Place,
  factor: 'authenticator' | 'mail',
): Promise<RunningApplication> {
  const mails = join(data, 'mails');
  await mkdir(mails);
  const project = await createDjangoProject(join(folder, 'bin', 'python'), data, allauthSite(factor));
  await project.manage('shell', '-c', ALLAUTH_USER);
  const account = { identifier: 'ada@example.test', password: PASSWORD };
  const formUrl = `${url}/accounts/login/`;
  const server = await project.serve(port, formUrl);
  const lastCode = async (): Promise<string> => {
    const [last] = (await readdir(mails)).sort().reverse();
    const mail = last === undefined ? '' : await readFile(join(mails, last), 'utf8');
    return /^\s*([A-Z0-9]{3,}-?[A-Z0-9]{3,})\s*$/m.exec(mail)?.[1] ?? '';
  };
  return {
    ...server,
    account: factor === 'mail' ? account : { ...account, totpSecret: TOTP_SECRET },
    ...(factor === 'mail' ? { sentCode: lastCode, needsPerson: 'requires_email_code' } : {}),
    byHand: async (page) => {
      await fillLoginForm(page, formUrl, account, ['[name=login]', '[name=password]']);
      await page.waitForSelector('[name=code]');
      await page.fill('[name=code]', factor === 'mail' ? await lastCode() : authenticatorCode(TOTP_SECRET));
      await page.press('[name=code]', 'Enter');
      await page.waitForSelector('a[href="/accounts/logout/"]');
    },
  };
}

const ALLAUTH_URLS = `
from django.urls import include, path
urlpatterns = [path('accounts/', include('allauth.urls'))]
`;

const ALLAUTH_USER = `
from django.contrib.auth.models import User
from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from django.conf import settings
ada = User.objects.create_user('ada', 'ada@example.test', '${PASSWORD}')
EmailAddress.objects.create(user=ada, email=ada.email, verified=True, primary=True)
if not settings.ACCOUNT_LOGIN_BY_CODE_REQUIRED:
    Authenticator.objects.create(user=ada, type='totp', data={'secret': '${TOTP_SECRET}'})
`;

function allauthSite(factor: 'authenticator' | 'mail'): DjangoSite {
  return {
    apps: ['django.contrib.humanize', 'allauth', 'allauth.account', 'allauth.mfa'],
    middleware: 'allauth.account.middleware.AccountMiddleware',
    urls: ALLAUTH_URLS,
    settings: `
AUTHENTICATION_BACKENDS = ['allauth.account.auth_backends.AuthenticationBackend']
EMAIL_BACKEND = 'django.core.mail.backends.filebased.EmailBackend'
EMAIL_FILE_PATH = os.path.join(HERE, 'mails')
LOGIN_REDIRECT_URL = '/accounts/email/'
ACCOUNT_LOGIN_METHODS = {'email'}
ACCOUNT_SIGNUP_FIELDS = ['email*', 'password1*', 'password2*']
ACCOUNT_RATE_LIMITS = False
ACCOUNT_LOGIN_BY_CODE_REQUIRED = ${factor === 'mail' ? 'True' : 'False'}
`,
  };
}

/** node-oidc-provider with its own pages: a login, then consent. */
function providerScript(port: number, portal: number): string {
  return `import Provider from 'oidc-provider';
const provider = new Provider('http://127.0.0.1:${port}', {
  clients: [{ client_id: 'portal', client_secret: 'portal-secret', redirect_uris: ['http://localhost:${portal}/callback'] }],
  claims: { openid: ['sub'], profile: ['name'] },
  findAccount: (_context, id) => ({ accountId: id, claims: () => ({ sub: id, name: id }) }),
});
provider.listen(${port}, '127.0.0.1');
`;
}

/** A site without accounts that redirects every visitor to the provider. */
function portalScript(provider: number, port: number): string {
  return `import express from 'express';
import oidc from 'express-openid-connect';
const app = express();
app.use(oidc.auth({ authRequired: true, secret: process.argv[2], baseURL: 'http://localhost:${port}', issuerBaseURL: 'http://127.0.0.1:${provider}', clientID: 'portal', clientSecret: 'portal-secret', authorizationParams: { response_type: 'code', scope: 'openid profile' } }));
app.get('/', (req, res) => res.send('<!doctype html><title>Portal</title><main><h1>Your orders</h1><p>Nothing was ordered yet.</p></main>'));
app.listen(${port}, '127.0.0.1');
`;
}

const oidcProvider: Application = {
  name: 'A portal behind node-oidc-provider',
  builtWith: 'Koa, node-oidc-provider and its own pages; an immediate redirect, consent, a plain page inside',
  installedAs: 'oidc-provider',
  install: (folder) => npmPackages(folder, ['oidc-provider@9', 'express@4', 'express-openid-connect@2']),
  start: async ({ folder, port, url }) => {
    const account = { identifier: 'ada', password: PASSWORD };
    const provider = join(folder, 'provider.mjs');
    const portal = join(folder, 'portal.mjs');
    await writeFile(provider, providerScript(port + 1, port));
    await writeFile(portal, portalScript(port + 1, port));
    const configuration = `http://127.0.0.1:${port + 1}/.well-known/openid-configuration`;
    const serve = async (secret: string) => {
      const servers = [
        await startServer('node', [provider], configuration),
        await startServer('node', [portal, secret], url),
      ];
      return { stop: async () => void (await Promise.all(servers.map((server) => server.stop()))) };
    };
    // The provider keeps everything in memory, consent included.
    const server = await startRestartable(serve);
    return {
      ...server,
      account,
      choice: /continue|allow|yes/i,
      takesAnyPassword: true,
      byHand: async (page) => {
        await fillLoginForm(page, url, account, ['[name=login]', '[name=password]', 'button[type=submit]']);
        await page.waitForSelector('input[name=login]', { state: 'detached' });
        await page.click('button[type=submit]');
        await page.waitForSelector('text=Your orders');
      },
    };
  },
};

/** Identity servers and the account pages of frameworks. */
export const IDENTITY: readonly Application[] = [allauth('authenticator'), allauth('mail'), oidcProvider];
