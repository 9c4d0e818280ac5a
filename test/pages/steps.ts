import type { Shape } from './logins.ts';
import { documentOf, type Draft, type Truth } from './page.ts';
import { footer, header } from './parts.ts';

/** Whole login pages without a password, or with several secrets. */

function page(body: string, truth: Truth, more: Partial<Draft> & { title?: string; language?: string } = {}): Draft {
  const { title = 'Sign in', language = 'en', ...rest } = more;
  return { path: '/login', truth, html: documentOf({ title, body, language }), ...rest };
}

const WHO: Truth = { fields: ['identifier'] };

const nameFirst: Shape = (words, skin, draw) =>
  page(
    `${header(words, draw)}<main><h1>${words.signIn}</h1><form>${skin.field({ label: words.email, name: 'identifier', type: 'email', truth: 'identifier' })}${skin.button(words.next, { truth: 'submit' })}</form><a href="/signup">${words.signUp}</a></main>${footer(words, draw)}`,
    WHO,
    { title: words.signIn, language: words.code },
  );

/** Only the title or the address says that the lone field is a login. */
const quietName: Shape = (words, skin, draw) =>
  page(
    `<div class="logo">Harbour</div><form>${skin.field({ label: draw.one([words.email, words.user]), name: 'id', truth: 'identifier' })}${skin.button(words.next, { truth: 'submit' })}</form>`,
    WHO,
    draw.one([
      { title: `${words.signIn} | Harbour`, path: '/' },
      { title: 'Harbour', path: '/u/login/identifier' },
      { title: 'Harbour', path: '/account/signin' },
      { title: 'Harbour ID', path: '/auth/realms/harbour' },
    ]),
  );

const organization: Shape = (_words, skin, draw) =>
  page(
    `<h1>${draw.one(['Sign in to your workspace', 'Log in to your organization'])}</h1><form>${skin.field({ label: draw.one(['Workspace URL', 'Organization', 'Company domain']), name: draw.one(['domain', 'workspace', 'org']), truth: 'any' })}${skin.button('Continue', { truth: 'submit' })}</form>`,
    { fields: ['any'] },
  );

const passwordStep: Shape = (words, skin, draw) =>
  page(
    `<h1>${draw.one([words.signIn, 'Welcome back', words.password])}</h1><div>ann@example.com <a href="/login">Change</a></div><form>${skin.field({ label: words.password, name: 'pass', type: 'password', truth: 'password' })}<a href="/recover">${words.forgot}</a>${skin.button(draw.one([words.signIn, words.next]), { truth: 'submit' })}</form>`,
    { fields: ['password'] },
    { language: words.code },
  );

const hiddenPassword: Shape = (words, skin, draw) =>
  page(
    `<h1>${words.signIn}</h1><form>${skin.field({ label: words.email, name: 'login', type: 'email', truth: 'identifier' })}<div style="${draw.one(['display:none', 'position:absolute;left:-9999px', 'height:0;overflow:hidden', 'visibility:hidden'])}">${skin.field({ label: words.password, name: 'password', type: 'password' })}</div>${skin.button(words.next, { truth: 'submit' })}</form>`,
    WHO,
    { language: words.code },
  );

const passwordAndPin: Shape = (words, skin, draw) =>
  page(
    `<h1>${words.signIn}</h1><form>${skin.field({ label: words.user, name: 'user', truth: 'identifier' })}${skin.field({ label: words.password, name: 'password', type: 'password', truth: 'password' })}${skin.field({ label: draw.one(['PIN', 'Security PIN', 'Memorable word']), name: 'pin', type: 'password', truth: 'any' })}${skin.button(words.signIn, { truth: 'submit' })}</form>`,
    { fields: ['identifier', 'password', 'any'] },
    { language: words.code },
  );

const passwordAndCode: Shape = (words, skin, draw) =>
  page(
    `<h1>${words.signIn}</h1><form>${skin.field({ label: words.user, name: 'user', truth: 'identifier' })}${skin.field({ label: words.password, name: 'password', type: 'password', truth: 'password' })}${skin.field({ label: draw.one(['One-time password', 'Token code', 'Authenticator code', '2FA code (optional)', 'OTP']), name: 'otp', type: draw.one(['text', 'password']), truth: 'any' })}${skin.button(words.signIn, { truth: 'submit' })}</form>`,
    { fields: ['identifier', 'password', 'any'] },
    { language: words.code },
  );

const CODE_PAGES = [
  ['Enter the 6-digit code from your authenticator app', 'totp_code', 'totp'],
  ['One-time password', 'totp_code', 'totp'],
  ['Time-based one-time password', 'totp_code', 'totp'],
  ['Open your two-factor authenticator (TOTP) app to view your authentication code', 'totp_code', 'totp'],
  ['We sent a code to your phone number ending in 42', 'code', 'sms'],
  ['Enter the code we texted to +1 ••• •••• 17', 'code', 'sms'],
  ['We sent a verification code to g…@example.com', 'code', 'email'],
  ['Enter the code we emailed you', 'code', 'email'],
  ['We are calling you with a code', 'code', 'call'],
  ['Enter your verification code', 'code', 'unknown'],
  ['Enter your security code to continue', 'code', 'unknown'],
  ['Gib den Code aus deiner Authenticator-App ein', 'totp_code', 'totp'],
  ['Nous avons envoyé un code par SMS', 'code', 'sms'],
  ['Te hemos enviado un código a tu correo electrónico', 'code', 'email'],
  ['Geben Sie den per E-Mail gesendeten Code ein', 'code', 'email'],
  ['Introduce el código de tu aplicación de autenticación', 'totp_code', 'totp'],
  ['認証アプリに表示されたコードを入力してください', 'totp_code', 'totp'],
  ['Введите код из SMS', 'code', 'sms'],
  ['メールに送信した認証コードを入力してください', 'code', 'email'],
] as const;

/** A page that asks for a code alone; its text tells where the code comes from. */
const codeStep: Shape = (_words, skin, draw) => {
  const [text, type, channel] = draw.one(CODE_PAGES);
  const field = draw.chance(0.6)
    ? skin.field({
        label: draw.one(['Code', 'Verification code', text]),
        name: draw.one(['code', 'token', 'answer']),
        truth: type,
        ...(draw.chance(0.5) ? { autocomplete: 'one-time-code' } : {}),
      })
    : skin.field({ label: 'Code', name: 'code', truth: type, more: 'inputmode="numeric" maxlength="6"' });
  return page(
    `<main><h1>${draw.one(['Verify', 'Check', 'Two steps'])}</h1><p>${text}</p><form action="/verify">${field}${skin.button(draw.one(['Verify', 'Continue', 'Submit']), { truth: 'submit' })}</form><a href="/resend">Resend code</a></main>`,
    { fields: [type], channel },
    { title: 'Verify', path: '/login/verify' },
  );
};

const boxes: Shape = (_words, _skin, draw) => {
  const count = draw.one([4, 6, 6, 8]);
  const box = (at: number): string =>
    `<input ${at === 0 ? 'truth="any"' : ''} type="${draw.one(['text', 'tel', 'number'])}" maxlength="1" style="width:40px" aria-label="${draw.one(['Digit', 'Please enter OTP character'])} ${at + 1}">`;
  return page(
    `<h1>Enter verification code</h1><p>We sent it to a•••@example.com</p><form><div class="otp">${Array.from({ length: count }, (_, at) => box(at)).join('')}</div>${draw.chance(0.6) ? '<button truth="submit">Verify</button>' : ''}</form>`,
    { fields: ['any'] },
    { title: 'Verification', path: '/mfa' },
  );
};

const phoneAndCode: Shape = (_words, _skin, draw) => {
  const [phone, code, get, go] = draw.one([
    ['手机号', '验证码', '获取验证码', '登录'],
    ['Phone number', 'SMS code', 'Get code', 'Log in'],
    ['Номер телефона', 'Код из SMS', 'Получить код', 'Войти'],
    ['휴대폰 번호', '인증번호', '인증번호 받기', '로그인'],
  ] as const);
  return page(
    `<form class="login"><div><input type="tel" name="mobile" placeholder="${phone}" truth="identifier"></div><div><input name="smscode" placeholder="${code}" truth="code"><button type="button">${get}</button></div><button type="submit" truth="submit">${go}</button></form>`,
    { fields: ['identifier', 'code'] },
    { title: go },
  );
};

const unlock: Shape = (_words, skin, draw) =>
  page(
    `<h1>${draw.one(['Protected area', 'Enter password', 'This content is password protected'])}</h1><form>${skin.field({ label: draw.one(['Password', 'Access code', 'Passcode']), name: 'pw', type: 'password', truth: 'password' })}${skin.button(draw.one(['Enter', 'Unlock', 'Submit']), { truth: 'submit' })}</form>`,
    { fields: ['password'] },
    { title: 'Harbour', path: '/private' },
  );

/** Two logins of equal standing: the first of them is the page's. */
const twoLogins: Shape = (words, skin, draw) => {
  const one = (heading: string, name: string, truth: boolean): string =>
    `<section><h2>${heading}</h2><form action="/${name}">${skin.field({ label: words.user, name: `${name}_user`, ...(truth ? { truth: 'identifier' } : {}) })}${skin.field({ label: words.password, name: `${name}_pass`, type: 'password', ...(truth ? { truth: 'password' } : {}) })}${skin.button(words.signIn, truth ? { truth: 'submit' } : {})}</form></section>`;
  return page(
    `<main>${one(draw.one(['Personal', 'Customers', 'Students']), 'a', true)}${one('Business', 'b', false)}</main>`,
    { fields: ['identifier', 'password'] },
    { language: words.code },
  );
};

const linkByMail: Shape = (_words, skin, draw) =>
  page(
    `<h1>${draw.one(['Log in', 'Sign in with email'])}</h1><p>We will email you a magic link.</p><form>${skin.field({ label: 'Email', name: 'email', type: 'email', truth: 'identifier' })}${skin.button(draw.one(['Email me a link', 'Send magic link', 'Continue with email', 'Get a sign-in link']), { truth: 'submit' })}</form>`,
    WHO,
  );

/** Shapes of whole login pages with no password, or with more than one secret. */
export const STEPS: Readonly<Record<string, Shape>> = {
  nameFirst,
  quietName,
  organization,
  passwordStep,
  hiddenPassword,
  passwordAndPin,
  passwordAndCode,
  codeStep,
  boxes,
  phoneAndCode,
  unlock,
  twoLogins,
  linkByMail,
};
