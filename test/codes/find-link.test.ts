import { expect, it } from 'vitest';
import { findSignInLink } from '../../codes/find-link.ts';
import { isOwnLink } from '../../contract/site-hosts.ts';

const SITE = { domain: 'www.example.com', allowedDomains: ['example-login.net'] };
const TOKEN = 'k3J9_xQ2pLm8Zt71vW';
const LINK = `https://example.com/magic?token=${TOKEN}`;
const find = (text: string, html?: string) => findSignInLink({ text, html }, (link) => isOwnLink(link, SITE));

/** A mail as sites build it: a button in markup, and beside it everything that is no sign-in. */
const mail = (
  button: string,
  link = LINK,
  more = '',
): string => `<html><head><style>a { color: red }</style></head><body>
  <a href="https://example.com/?utm_source=mail&amp;utm_campaign=login_2026_03"><img src="https://example.com/logo.png" alt="Example"></a>
  <p>Hello Anna,</p><a class="button" href="${link.replaceAll('&', '&amp;')}"><b>${button}</b></a>${more}
  <p><a href="https://example.com/unsubscribe?id=${TOKEN}">Unsubscribe</a> · <a href="https://example.com/help/a1b2c3">Help</a> ·
  <a href="https://example.com/account/secure?token=${TOKEN}9">It wasn't me</a> · <a href="https://example.com/privacy">Privacy</a></p>
  <img src="https://example.com/open.gif?id=${TOKEN}"></body></html>`;

it.each([
  'Log in to Example',
  'Sign in',
  'Confirm your email',
  'Yes, it was me',
  'Jetzt anmelden',
  'Ohne Passwort einloggen',
  'Se connecter à Example',
  'Iniciar sesión',
  'Accedi ora',
  'Entrar na conta',
  'Nu inloggen',
  'Logga in',
  'Zaloguj się',
  'Войти в аккаунт',
  'ログインする',
  '立即登录',
  '로그인하기',
  'تسجيل الدخول',
  'Giriş yap',
])('finds the link under "%s", among all the others of the mail', (button) => {
  expect(find('', mail(button))).toBe(LINK);
});

it.each([
  [`Click this link to sign in: ${LINK}`, LINK],
  [`Sign in to Example\n\n${LINK}\n\nDid not ask for it? https://example.com/report?id=${TOKEN}`, LINK],
  [`Hier anmelden: <${LINK}>.`, LINK],
  [`Go on here (${LINK}).`, LINK],
  [`ログインはこちら： https://app.example.com/l/${TOKEN}`, `https://app.example.com/l/${TOKEN}`],
  [`Log in: https://example-login.net/l/${TOKEN}`, `https://example-login.net/l/${TOKEN}`],
  [`Log in: https://example.com/email#access=${TOKEN}`, `https://example.com/email#access=${TOKEN}`],
  [`Tap to log in https://example.com/otp/482913?email=ann%40mail.example`, undefined],
])('finds the link in %j', (text, link = 'https://example.com/otp/482913?email=ann%40mail.example') => {
  expect(find(text)).toBe(link);
});

it('reads entities, the words before a bare "here", and text and HTML of a mail as one', () => {
  const link = `${LINK}&next=%2Fhome&lang=en`;
  expect(find(`Log in:\n${link}`, mail('Log in', link))).toBe(link);
  expect(find('', mail('here', LINK).replace('Hello Anna,', 'To log in, please click'))).toBe(LINK);
  expect(find('', `<a href='https://example.com/v?t=&#x6b;&#51;J9_xQ2pLm8Zt71vW'>Sign in</a>`)).toBe(
    `https://example.com/v?t=${TOKEN}`,
  );
});

it.each([
  ['no link', 'Your code is 482913'],
  ['a login page that anybody has', 'Log in at https://example.com/login?utm_source=mail_2026'],
  ['another site', `Sign in: https://evil.example/magic?token=${TOKEN}`],
  ['a site whose name only begins so', `Sign in: https://example.com.evil.example/magic?token=${TOKEN}`],
  ['a name before the host', `Sign in: https://example.com@evil.example/magic?token=${TOKEN}`],
  ['a name and the right host', `Sign in: https://user@example.com/magic?token=${TOKEN}`],
  ['no https', `Sign in: http://example.com/magic?token=${TOKEN}`],
  ['a service that counts clicks', `Sign in: https://click.mailer.example/ls/click?upn=${TOKEN}`],
  ['an identity provider', `Sign in: https://accounts.google.com/magic?token=${TOKEN}`],
  ['a wish to leave', `Unsubscribe: https://example.com/login/unsubscribe?token=${TOKEN}`],
  ['a reset of the password', `Sign in again: https://example.com/reset?token=${TOKEN}`],
  ['a denial', `It wasn't you? Deny the sign-in: https://example.com/auth?token=${TOKEN}`],
  ['two that could be meant', `Sign in: ${LINK}\nSign in: https://example.com/magic?token=${TOKEN}2`],
])('takes no link of a mail that holds %s', (_what, text) => {
  expect(find(text)).toBeNull();
});

it('accepts a local practice site without https, on its own port only', () => {
  const local = { domain: 'localhost:4100', allowedDomains: [] };
  expect(isOwnLink('http://localhost:4100/magic', local)).toBe(true);
  expect(isOwnLink('http://localhost:4101/magic', local)).toBe(false);
  expect(isOwnLink('http://example.com/magic', { domain: 'example.com', allowedDomains: [] })).toBe(false);
});
