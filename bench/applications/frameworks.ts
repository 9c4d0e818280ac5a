import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Secret, TOTP } from 'otpauth';
import type { Page } from 'playwright-core';
import type { Application } from './application.ts';
import { pythonPackages, run, springArguments, springJar, startServer } from './server-process.ts';

const ADA = { identifier: 'ada', password: 'Correct-horse-battery-9' };
/** As the devices of django-otp keep it: raw characters, in hexadecimal. */
const RAW_TOTP_SECRET = 'holdfast-bench-totp8';

const PLAIN_POM = `<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<parent><groupId>org.springframework.boot</groupId><artifactId>spring-boot-starter-parent</artifactId><version>3.3.5</version></parent>
<groupId>demo</groupId><artifactId>plain</artifactId><version>1</version>
<properties><java.version>17</java.version></properties>
<dependencies>
<dependency><groupId>org.springframework.boot</groupId><artifactId>spring-boot-starter-web</artifactId></dependency>
<dependency><groupId>org.springframework.boot</groupId><artifactId>spring-boot-starter-security</artifactId></dependency>
</dependencies>
<build><plugins><plugin><groupId>org.springframework.boot</groupId><artifactId>spring-boot-maven-plugin</artifactId></plugin></plugins></build>
</project>
`;

const PLAIN_PROGRAM = `package demo;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.security.core.Authentication;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
@SpringBootApplication
@RestController
public class Plain {
  public static void main(String[] args) { SpringApplication.run(Plain.class, args); }
  @GetMapping("/")
  String home(Authentication who) {
    return "<!doctype html><title>Orders</title><h1>Your orders</h1><p>" + who.getName() + "</p><a href='/logout'>Log out</a>";
  }
}
`;

const springSecurity: Application = {
  name: 'Spring Security',
  madeOf: "Spring Boot, Spring Security's default login page",
  installedAs: 'spring-security',
  install: (folder) => springJar(folder, 'plain-1.jar', PLAIN_POM, ['Plain.java', PLAIN_PROGRAM]),
  start: async ({ folder, data, port }) => {
    await mkdir(data, { recursive: true });
    const url = `http://localhost:${port}`;
    const settings = {
      'server.port': String(port),
      'server.address': '127.0.0.1',
      'spring.security.user.name': ADA.identifier,
      'spring.security.user.password': ADA.password,
    };
    const args = springArguments(settings);
    const program = ['-Xmx150m', '-jar', join(folder, 'target', 'plain-1.jar'), ...args];
    const serve = () => startServer('java', program, `${url}/login`, { cwd: data });
    let server = await serve();
    return {
      domain: `localhost:${port}`,
      account: ADA,
      // Its sessions are in memory.
      endSessions: async () => {
        await server.stop();
        server = await serve();
      },
      byHand: async (page) => {
        await fillIn(page, url, '#username', '#password');
        await page.waitForSelector('a[href="/logout"]');
      },
      stop: () => server.stop(),
    };
  },
};

async function fillIn(page: Page, url: string, identifier: string, password: string): Promise<void> {
  await page.goto(url);
  await page.fill(identifier, ADA.identifier);
  await page.fill(password, ADA.password);
  await page.press(password, 'Enter');
}

const TWO_FACTOR_SITE = `
import os
HERE = os.path.dirname(os.path.abspath(__file__))
SECRET_KEY = 'bench'
DEBUG = True
ALLOWED_HOSTS = ['*']
ROOT_URLCONF = 'urls1'
INSTALLED_APPS = ['django.contrib.auth', 'django.contrib.contenttypes', 'django.contrib.sessions', 'django.contrib.messages',
  'django.contrib.staticfiles', 'django_otp', 'django_otp.plugins.otp_static', 'django_otp.plugins.otp_totp', 'two_factor']
MIDDLEWARE = ['django.contrib.sessions.middleware.SessionMiddleware', 'django.middleware.common.CommonMiddleware',
  'django.middleware.csrf.CsrfViewMiddleware', 'django.contrib.auth.middleware.AuthenticationMiddleware',
  'django_otp.middleware.OTPMiddleware', 'django.contrib.messages.middleware.MessageMiddleware']
TEMPLATES = [{'BACKEND': 'django.template.backends.django.DjangoTemplates', 'APP_DIRS': True, 'OPTIONS': {'context_processors': [
  'django.template.context_processors.request', 'django.contrib.auth.context_processors.auth', 'django.contrib.messages.context_processors.messages']}}]
DATABASES = {'default': {'ENGINE': 'django.db.backends.sqlite3', 'NAME': os.path.join(HERE, 'db.sqlite3')}}
DEFAULT_AUTO_FIELD = 'django.db.models.AutoField'
STATIC_URL = '/static/'
LOGIN_URL = 'two_factor:login'
LOGIN_REDIRECT_URL = 'two_factor:profile'
`;

const TWO_FACTOR_URLS = `
from django.contrib.auth.views import LogoutView
from django.urls import include, path
from two_factor.urls import urlpatterns
urlpatterns = [path('', include(urlpatterns)), path('logout/', LogoutView.as_view(next_page='two_factor:login'), name='logout')]
`;

const TWO_FACTOR_USER = `
from django.contrib.auth.models import User
from django_otp.plugins.otp_totp.models import TOTPDevice
ada = User.objects.create_user('${ADA.identifier}', 'ada@example.test', '${ADA.password}')
TOTPDevice.objects.create(user=ada, name='default', key=b'${RAW_TOTP_SECRET}'.hex(), tolerance=1)
`;

const END_DJANGO_SESSIONS = 'from django.contrib.sessions.models import Session; Session.objects.all().delete()';

const twoFactor: Application = {
  name: 'django-two-factor-auth with an authenticator',
  madeOf: 'Django, formtools, its own templates; steps of one wizard at one address',
  installedAs: 'django-two-factor-auth',
  install: async (folder) => {
    await pythonPackages(folder, ['django-two-factor-auth==1.18.*', 'django==5.2.*', 'phonenumbers']);
  },
  start: async ({ folder, data, port }) => {
    await mkdir(data, { recursive: true });
    await writeFile(join(data, 'site1.py'), TWO_FACTOR_SITE);
    await writeFile(join(data, 'urls1.py'), TWO_FACTOR_URLS);
    const python = join(folder, 'bin', 'python');
    const env = { ...process.env, DJANGO_SETTINGS_MODULE: 'site1', PYTHONPATH: data };
    const manage = (...args: string[]) => run(python, ['-m', 'django', ...args], { cwd: data, env });
    await manage('migrate', '--verbosity', '0');
    await manage('shell', '-c', TWO_FACTOR_USER);
    const url = `http://localhost:${port}/account/login/`;
    const serve = ['-m', 'django', 'runserver', '--noreload', String(port)];
    const server = await startServer(python, serve, url, { cwd: data, env });
    const totpSecret = Secret.fromUTF8(RAW_TOTP_SECRET).base32;
    return {
      domain: `localhost:${port}`,
      loginUrl: url,
      account: { ...ADA, totpSecret },
      endSessions: async () => {
        await manage('shell', '-c', END_DJANGO_SESSIONS);
      },
      byHand: async (page) => {
        await fillIn(page, url, '#id_auth-username', '#id_auth-password');
        await page.fill('#id_token-otp_token', new TOTP({ secret: totpSecret }).generate());
        await page.press('#id_token-otp_token', 'Enter');
        await page.waitForURL((address) => !address.pathname.includes('login'));
      },
      stop: () => server.stop(),
    };
  },
};

/** The login pages that frameworks bring along. */
export const FRAMEWORKS: readonly Application[] = [springSecurity, twoFactor];
