import { join } from 'node:path';
import { Secret } from 'otpauth';
import type { Application } from './application.ts';
import { authenticatorCode, fillLoginForm } from './login-by-hand.ts';
import { createDjangoProject } from './django.ts';
import { pythonPackages, startRestartable } from './server-process.ts';
import { buildSpring, startSpring, type SpringProgram } from './spring.ts';

const ADA = { identifier: 'ada', password: 'Correct-horse-battery-9' };
/** django-otp stores the raw characters in hexadecimal. */
const RAW_TOTP_SECRET = 'holdfast-bench-totp8';

const PLAIN: SpringProgram = {
  artifact: 'plain',
  dependencies: [
    'org.springframework.boot:spring-boot-starter-web',
    'org.springframework.boot:spring-boot-starter-security',
  ],
  className: 'Plain',
  source: `package demo;
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
`,
};

const springSecurity: Application = {
  name: 'Spring Security',
  builtWith: "Spring Boot, Spring Security's default login page",
  installedAs: 'spring-security',
  install: (folder) => buildSpring(folder, PLAIN),
  start: async (place) => {
    const properties = { 'spring.security.user.name': ADA.identifier, 'spring.security.user.password': ADA.password };
    const serve = () => startSpring(place, PLAIN, '/login', properties);
    // Sessions are in memory.
    const server = await startRestartable(serve);
    return {
      ...server,
      account: ADA,
      byHand: async (page) => {
        await fillLoginForm(page, place.url, ADA, ['#username', '#password']);
        await page.waitForSelector('a[href="/logout"]');
      },
    };
  },
};

const TWO_FACTOR_URLS = `
from django.contrib.auth.views import LogoutView
from django.urls import include, path
from two_factor.urls import urlpatterns
urlpatterns = [path('', include(urlpatterns)), path('logout/', LogoutView.as_view(next_page='two_factor:login'), name='logout')]
`;

const TWO_FACTOR_SITE = {
  apps: ['django_otp', 'django_otp.plugins.otp_static', 'django_otp.plugins.otp_totp', 'two_factor'],
  middleware: 'django_otp.middleware.OTPMiddleware',
  urls: TWO_FACTOR_URLS,
  settings: "LOGIN_URL = 'two_factor:login'\nLOGIN_REDIRECT_URL = 'two_factor:profile'\n",
};

const TWO_FACTOR_USER = `
from django.contrib.auth.models import User
from django_otp.plugins.otp_totp.models import TOTPDevice
ada = User.objects.create_user('${ADA.identifier}', 'ada@example.test', '${ADA.password}')
TOTPDevice.objects.create(user=ada, name='default', key=b'${RAW_TOTP_SECRET}'.hex(), tolerance=1)
`;

const twoFactor: Application = {
  name: 'django-two-factor-auth with an authenticator',
  builtWith: 'Django, formtools, its own templates; steps of one wizard at one address',
  installedAs: 'django-two-factor-auth',
  install: (folder) => pythonPackages(folder, ['django-two-factor-auth==1.18.*', 'django==5.2.*', 'phonenumbers']),
  start: async ({ folder, data, port, url }) => {
    const project = await createDjangoProject(join(folder, 'bin', 'python'), data, TWO_FACTOR_SITE);
    await project.manage('shell', '-c', TWO_FACTOR_USER);
    const loginUrl = `${url}/account/login/`;
    const server = await project.serve(port, loginUrl);
    const totpSecret = Secret.fromUTF8(RAW_TOTP_SECRET).base32;
    return {
      ...server,
      loginUrl,
      account: { ...ADA, totpSecret },
      byHand: async (page) => {
        await fillLoginForm(page, loginUrl, ADA, ['#id_auth-username', '#id_auth-password']);
        await page.fill('#id_token-otp_token', authenticatorCode(totpSecret));
        await page.press('#id_token-otp_token', 'Enter');
        await page.waitForURL((address) => !address.pathname.includes('login'));
      },
    };
  },
};

/** Login pages that come with frameworks. */
export const FRAMEWORKS: readonly Application[] = [springSecurity, twoFactor];
