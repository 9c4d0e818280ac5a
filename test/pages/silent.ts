import type { Shape } from './logins.ts';
import { documentOf, type Draft } from './page.ts';
import { cookies, footer, header, signUpBody, signUpForm } from './parts.ts';

/** Pages that ask for no login: nothing on them may be taken for one. */

function page(
  body: string,
  more: { title: string; path: string; language?: string; rtl?: boolean | undefined },
): Draft {
  return {
    path: more.path,
    truth: { fields: [] },
    html: documentOf({ title: more.title, body, language: more.language ?? 'en', rtl: more.rtl }),
  };
}

const signUp: Shape = (words, skin, draw) =>
  page(
    `${header(words, draw)}<main><h1>${words.signUp}</h1>${signUpForm(words, draw, skin, draw.chance(0.5))}<p><a href="/login">${words.signIn}</a></p></main>${footer(words, draw)}`,
    { title: words.signUp, path: '/register', language: words.code, rtl: words.rtl },
  );

/** Address and one password: only the words tell it from a login. */
const shortSignUp: Shape = (words, skin, draw) =>
  page(
    `<main><h1>${words.signUp}</h1><form method="post">${skin.field({ label: words.email, name: 'email', type: 'email' })}${skin.field({ label: words.password, name: 'password', type: 'password', ...(draw.chance(0.5) ? { autocomplete: 'new-password' } : {}) })}${skin.button(draw.one([words.signUp, words.signUp, words.next]))}</form><p>${words.signIn}? <a href="/login">${words.signIn}</a></p></main>`,
    {
      title: words.signUp,
      path: draw.one(['/signup', '/join', '/registration']),
      language: words.code,
      rtl: words.rtl,
    },
  );

/** One password beside what no login asks for. */
const profileSignUp: Shape = (words, skin, draw) =>
  page(
    `<form>${skin.field({ label: words.email, name: 'email' })}${draw.one([skin.field({ label: 'Date of birth', name: 'dob' }), skin.field({ label: 'Confirm email', name: 'email2' }), skin.field({ label: words.firstName, name: 'fn' }) + skin.field({ label: words.lastName, name: 'ln' }), '<label><input type="radio" name="sex"> Mr</label><label><input type="radio" name="sex"> Ms</label>' + skin.field({ label: words.lastName, name: 'ln' })])}${skin.field({ label: words.password, name: 'pw', type: 'password' })}<label><input type="checkbox"> ${words.terms}</label>${skin.button(words.next)}</form>`,
    { title: 'Harbour', path: '/step1', language: words.code, rtl: words.rtl },
  );

const setPassword: Shape = (_words, skin, draw) => {
  const [title, label, go] = draw.one([
    ['Activate your account', 'Password', 'Activate'],
    ['Create your password', 'Password', 'Create password'],
    ['Set a password', 'Choose a password', 'Set password'],
    ['Complete your registration', 'Password (at least 8 characters)', 'Finish'],
    ['Konto aktivieren', 'Passwort festlegen', 'Aktivieren'],
    ['Activez votre compte', 'Choisissez un mot de passe', 'Activer'],
    ['Activa tu cuenta', 'Crea una contraseña', 'Activar'],
    ['Account activeren', 'Kies een wachtwoord', 'Activeren'],
    ['Attiva il tuo account', 'Scegli una password', 'Attiva'],
    ['Ative sua conta', 'Crie uma senha', 'Ativar'],
    ['Активация аккаунта', 'Придумайте пароль', 'Активировать'],
    ['アカウントの有効化', 'パスワードを設定', '登録する'],
  ] as const);
  const email = draw.chance(0.4) ? skin.field({ label: 'Email', name: 'email', type: 'email' }) : '';
  return page(
    `<main><h1>${title}</h1><form>${email}${skin.field({ label, name: 'password', type: 'password' })}${skin.button(go)}</form></main>`,
    { title, path: draw.one(['/activate', '/welcome', '/invitation/accept']) },
  );
};

const changePassword: Shape = (words, skin, draw) =>
  page(
    `${header(words, draw)}<aside><a href="/account">Profile</a><a href="/account/security">Security</a></aside><main><h2>${words.newPassword}</h2><form>${draw.chance(0.6) ? skin.field({ label: words.password, name: 'old', type: 'password' }) : ''}${skin.field({ label: words.newPassword, name: 'new1', type: 'password' })}${skin.field({ label: words.repeatPassword, name: 'new2', type: 'password' })}${skin.button(words.save)}</form></main>`,
    { title: 'Settings', path: '/settings/password', language: words.code, rtl: words.rtl },
  );

const recover: Shape = (words, skin, draw) =>
  page(
    `<main><h1>${words.forgot}</h1><form>${skin.field({ label: words.email, name: 'email', type: 'email' })}${skin.button(draw.one(['OK', words.next]))}</form><a href="/login">${words.signIn}</a></main>`,
    { title: words.forgot, path: '/password/reset', language: words.code, rtl: words.rtl },
  );

const checkout: Shape = (words, skin, draw) => {
  const card = `<h2>Payment</h2>${skin.field({ label: 'Card number', name: 'cc' })}${skin.field({ label: 'Expiry (MM/YY)', name: 'exp' })}${skin.field({ label: draw.one(['Security code', 'CVC', 'CVV', 'Card verification code', 'Prüfziffer']), name: draw.one(['cvc', 'cvv2', 'code', 'securityCode']), type: draw.one(['text', 'password', 'tel']), more: 'maxlength="4"' })}`;
  const address = `<h2>Shipping</h2>${skin.field({ label: words.email, name: 'email', type: 'email' })}${skin.field({ label: words.firstName, name: 'first' })}${skin.field({ label: words.lastName, name: 'last' })}${skin.field({ label: 'Address', name: 'address' })}${skin.field({ label: 'Postal code', name: 'zip' })}${skin.field({ label: 'Phone', name: 'phone', type: 'tel' })}`;
  const account = draw.chance(0.4)
    ? `<h3>${words.signUp}</h3>${skin.field({ label: words.password, name: 'account_password', type: 'password' })}`
    : '';
  return page(
    `${header(words, draw)}<main><form>${address}${account}${card}${skin.field({ label: 'Promo code', name: 'promo' })}${skin.button('Place order')}</form></main>`,
    { title: 'Checkout', path: '/checkout' },
  );
};

const cardOnly: Shape = (_words, skin, draw) =>
  page(
    `<main><h1>Payment</h1><form>${skin.field({ label: 'Card number', name: 'number', more: 'inputmode="numeric"' })}${skin.field({ label: 'Name on card', name: 'holder' })}${skin.field({ label: draw.one(['Security code', 'CVV', 'CVC code', 'Code de sécurité', 'Código de seguridad']), name: draw.one(['sc', 'verification_value', 'code']), type: draw.one(['password', 'text']), more: 'maxlength="3"' })}${skin.button('Pay')}</form></main>`,
    { title: 'Pay', path: '/pay' },
  );

const contact: Shape = (words, skin, draw) =>
  page(
    `${header(words, draw)}${draw.chance(0.4) ? cookies() : ''}<main><h1>${words.contact}</h1><form>${skin.field({ label: words.firstName, name: 'name' })}${skin.field({ label: words.email, name: 'email', type: 'email' })}<textarea name="message"></textarea>${draw.chance(0.4) ? skin.field({ label: 'Verification code', name: 'captcha', more: 'maxlength="5"' }) + '<img src="/captcha.png" alt="">' : ''}${skin.button('OK')}</form></main>${footer(words, draw)}`,
    { title: words.contact, path: '/contact', language: words.code, rtl: words.rtl },
  );

const news: Shape = (words, skin, draw) =>
  page(
    `${header(words, draw)}<main><h1>${words.subscribe}</h1><form>${skin.field({ label: words.email, name: 'email', type: 'email' })}${skin.button(words.subscribe)}</form></main>${footer(words, draw)}`,
    { title: 'News', path: '/news', language: words.code, rtl: words.rtl },
  );

const profileSettings: Shape = (words, skin, draw) =>
  page(
    `<header><a href="/logout">Sign out</a></header><main><h1>Profile</h1><form>${skin.field({ label: words.user, name: 'username' })}${skin.field({ label: words.email, name: 'email', type: 'email' })}${draw.chance(0.5) ? skin.field({ label: 'Current password', name: 'current', type: 'password' }) : ''}${skin.button(words.save)}</form></main>`,
    { title: 'Profile', path: '/settings/profile', language: words.code, rtl: words.rtl },
  );

const serverSettings: Shape = (_words, skin, draw) =>
  page(
    `<aside><a href="/settings">Settings</a><a href="/logout">Log out</a></aside><main><h1>${draw.one(['SMTP settings', 'Database', 'Proxy settings'])}</h1><form>${skin.field({ label: 'Host', name: 'host' })}${skin.field({ label: 'Port', name: 'port' })}${skin.field({ label: 'User name', name: 'user' })}${skin.field({ label: 'Password', name: 'password', type: 'password' })}${skin.button(draw.one(['Save', 'Test connection']))}</form></main>`,
    { title: 'Settings', path: '/admin/settings' },
  );

const orderStatus: Shape = (_words, skin, draw) =>
  page(
    `<main><h1>${draw.one(['Track your order', 'Find your booking', 'Redeem a gift card', 'Enter your activation code'])}</h1><form>${skin.field({ label: draw.one(['Order number', 'Booking reference', 'Gift card code', 'Activation code']), name: 'code' })}${draw.chance(0.6) ? skin.field({ label: 'Email', name: 'email', type: 'email' }) : ''}${skin.button(draw.one(['Track', 'Find', 'Redeem', 'Continue']))}</form></main>`,
    { title: 'Harbour', path: '/orders/find' },
  );

const comment: Shape = (words, skin, draw) =>
  page(
    `${header(words, draw)}<article><h1>A post</h1><p>Text of the post, long enough to be read.</p></article><form id="commentform"><h3>Leave a reply</h3><textarea name="comment"></textarea>${skin.field({ label: words.firstName, name: 'author' })}${skin.field({ label: words.email, name: 'email', type: 'email' })}${skin.field({ label: 'Website', name: 'url', type: 'url' })}${skin.button('Post comment')}</form>${footer(words, draw)}`,
    { title: 'A post', path: '/2024/a-post' },
  );

const phoneSignUp: Shape = (_words, skin, draw) =>
  page(
    `<main><h1>${draw.one(['Create your account', 'Register', 'Join Harbour'])}</h1><form>${skin.field({ label: 'Mobile number', name: 'mobile', type: 'tel' })}${skin.field({ label: 'Verification code', name: 'vcode', more: 'maxlength="6"' })}<button type="button">Get code</button>${skin.field({ label: 'Password', name: 'password', type: 'password' })}<label><input type="checkbox"> I agree to the terms of service</label>${skin.button('Register')}</form></main>`,
    { title: 'Register', path: '/register' },
  );

const bareSignUp: Shape = (words, skin, draw) =>
  page(`<div>${signUpBody(words, skin, draw.chance(0.5))}</div>`, {
    title: 'Harbour',
    path: '/',
    language: words.code,
    rtl: words.rtl,
  });

const demo: Shape = (words, skin, draw) =>
  page(
    `${header(words, draw)}<main><h1>${draw.one(['Request a demo', 'Get a quote', 'Apply now', 'Book an appointment'])}</h1><form>${skin.field({ label: words.firstName, name: 'fn' })}${skin.field({ label: words.email, name: 'em', type: 'email' })}${skin.field({ label: 'Company', name: 'co' })}${skin.field({ label: 'Phone', name: 'ph', type: 'tel' })}${skin.button('Send')}</form></main>${footer(words, draw)}`,
    { title: 'Demo', path: '/demo' },
  );

/** Shapes of pages that ask for no login. */
export const SILENT: Readonly<Record<string, Shape>> = {
  signUp,
  shortSignUp,
  profileSignUp,
  setPassword,
  changePassword,
  recover,
  checkout,
  cardOnly,
  contact,
  news,
  profileSettings,
  serverSettings,
  orderStatus,
  comment,
  phoneSignUp,
  bareSignUp,
  demo,
};
