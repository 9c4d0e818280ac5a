import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Secret, TOTP } from 'otpauth';
import type { Application, RunningApplication } from './application.ts';
import { npmPackages, pythonPackages, run, startServer } from './server-process.ts';

const PASSWORD = 'Correct-horse-battery-9';
const TOTP_SECRET = Secret.fromUTF8('holdfast-bench-totp5').base32;

/** A site with accounts of django-allauth; `factor` is what follows the password. */
function allauth(factor: 'authenticator' | 'mail'): Application {
  return {
    name: factor === 'mail' ? 'django-allauth with a code by e-mail' : 'django-allauth with an authenticator',
    madeOf: 'Django, django-allauth, its own templates; the code on a separate page',
    installedAs: 'allauth',
    install: async (folder) => {
      await pythonPackages(folder, ['django-allauth[mfa]==65.*', 'django==5.2.*']);
    },
    start: ({ folder, data, port }) => startAllauth(join(folder, 'bin', 'python'), data, port, factor),
  };
}

async function startAllauth(
  python: string,
  data: string,
  port: number,
  factor: 'authenticator' | 'mail',
): Promise<RunningApplication> {
  const mails = join(data, 'mails');
  await mkdir(mails, { recursive: true });
  await writeFile(join(data, 'site1.py'), allauthSite(factor));
  await writeFile(join(data, 'urls1.py'), ALLAUTH_URLS);
  const manage = (...args: string[]) => run(python, ['-m', 'django', ...args], { cwd: data, env });
  const env = { ...process.env, DJANGO_SETTINGS_MODULE: 'site1', PYTHONPATH: data };
  await manage('migrate', '--verbosity', '0');
  await manage('shell', '-c', ALLAUTH_USER);
  const url = `http://localhost:${port}`;
  const account = { identifier: 'ada@example.test', password: PASSWORD };
  const serve = ['-m', 'django', 'runserver', '--noreload', String(port)];
  const server = await startServer(python, serve, `${url}/accounts/login/`, { cwd: data, env });
  const lastCode = async (): Promise<string> => {
    const [last] = (await readdir(mails)).sort().reverse();
    const mail = last === undefined ? '' : await readFile(join(mails, last), 'utf8');
    return /^\s*([A-Z0-9]{3,}-?[A-Z0-9]{3,})\s*$/m.exec(mail)?.[1] ?? '';
  };
  return {
    domain: `localhost:${port}`,
    account: factor === 'mail' ? account : { ...account, totpSecret: TOTP_SECRET },
    ...(factor === 'mail' ? { sentCode: lastCode, needsPerson: 'requires_email_code' } : {}),
    endSessions: async () => {
      await manage('shell', '-c', 'from django.contrib.sessions.models import Session; Session.objects.all().delete()');
    },
    byHand: async (page) => {
      await page.goto(`${url}/accounts/login/`);
      await page.fill('[name=login]', account.identifier);
      await page.fill('[name=password]', PASSWORD);
      await page.press('[name=password]', 'Enter');
      await page.waitForSelector('[name=code]');
      await page.fill(
        '[name=code]',
        factor === 'mail' ? await lastCode() : new TOTP({ secret: TOTP_SECRET }).generate(),
      );
      await page.press('[name=code]', 'Enter');
      await page.waitForSelector('a[href="/accounts/logout/"]');
    },
    stop: () => server.stop(),
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

function allauthSite(factor: 'authenticator' | 'mail'): string {
  return `
import os
HERE = os.path.dirname(os.path.abspath(__file__))
SECRET_KEY = 'bench'
DEBUG = True
ALLOWED_HOSTS = ['*']
ROOT_URLCONF = 'urls1'
INSTALLED_APPS = ['django.contrib.auth', 'django.contrib.contenttypes', 'django.contrib.sessions', 'django.contrib.messages',
  'django.contrib.staticfiles', 'django.contrib.humanize', 'allauth', 'allauth.account', 'allauth.mfa']
MIDDLEWARE = ['django.contrib.sessions.middleware.SessionMiddleware', 'django.middleware.common.CommonMiddleware',
  'django.middleware.csrf.CsrfViewMiddleware', 'django.contrib.auth.middleware.AuthenticationMiddleware',
  'django.contrib.messages.middleware.MessageMiddleware', 'allauth.account.middleware.AccountMiddleware']
TEMPLATES = [{'BACKEND': 'django.template.backends.django.DjangoTemplates', 'APP_DIRS': True, 'OPTIONS': {'context_processors': [
  'django.template.context_processors.request', 'django.contrib.auth.context_processors.auth', 'django.contrib.messages.context_processors.messages']}}]
DATABASES = {'default': {'ENGINE': 'django.db.backends.sqlite3', 'NAME': os.path.join(HERE, 'db.sqlite3')}}
AUTHENTICATION_BACKENDS = ['allauth.account.auth_backends.AuthenticationBackend']
EMAIL_BACKEND = 'django.core.mail.backends.filebased.EmailBackend'
EMAIL_FILE_PATH = os.path.join(HERE, 'mails')
DEFAULT_AUTO_FIELD = 'django.db.models.AutoField'
STATIC_URL = '/static/'
LOGIN_REDIRECT_URL = '/accounts/email/'
ACCOUNT_LOGIN_METHODS = {'email'}
ACCOUNT_SIGNUP_FIELDS = ['email*', 'password1*', 'password2*']
ACCOUNT_RATE_LIMITS = False
ACCOUNT_LOGIN_BY_CODE_REQUIRED = ${factor === 'mail' ? 'True' : 'False'}
`;
}

/** node-oidc-provider with its own pages: a login, then a page that asks to let the client have what it knows. */
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

/** A site without accounts of its own, which sends whoever comes to the provider. */
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
  madeOf: 'Koa, node-oidc-provider and its own pages; an immediate redirect, consent, a plain page inside',
  installedAs: 'oidc-provider',
  install: (folder) => npmPackages(folder, ['oidc-provider@9', 'express@4', 'express-openid-connect@2']),
  start: async ({ folder, port }) => {
    const url = `http://localhost:${port}`;
    const provider = join(folder, 'provider.mjs');
    const portal = join(folder, 'portal.mjs');
    await writeFile(provider, providerScript(port + 1, port));
    await writeFile(portal, portalScript(port + 1, port));
    const configuration = `http://127.0.0.1:${port + 1}/.well-known/openid-configuration`;
    const serve = async (secret: string) => {
      const servers = [
        await startServer('node', [provider], configuration),
        await startServer('node', [portal, secret.repeat(40)], url),
      ];
      return { stop: async () => void (await Promise.all(servers.map((server) => server.stop()))) };
    };
    let server = await serve('a');
    return {
      domain: `localhost:${port}`,
      account: { identifier: 'ada', password: PASSWORD },
      choice: /continue|allow|yes/i,
      takesAnyPassword: true,
      // What the provider knows, consent included, is in its memory.
      endSessions: async () => {
        await server.stop();
        server = await serve('b');
      },
      byHand: async (page) => {
        await page.goto(url);
        await page.fill('[name=login]', 'ada');
        await page.fill('[name=password]', PASSWORD);
        await page.click('button[type=submit]');
        await page.waitForSelector('input[name=login]', { state: 'detached' });
        await page.click('button[type=submit]');
        await page.waitForSelector('text=Your orders');
      },
      stop: () => server.stop(),
    };
  },
};

/** Identity servers and the account pages of frameworks. */
export const IDENTITY: readonly Application[] = [allauth('authenticator'), allauth('mail'), oidcProvider];
