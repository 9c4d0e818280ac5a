import type { Draw } from './draw.ts';
import type { Words } from './languages.ts';
import { documentOf, type Draft } from './page.ts';
import {
  cookies,
  footer,
  header,
  loginBody,
  loginFields,
  loginForm,
  megaMenu,
  PLAIN,
  signUpBody,
  signUpForm,
  type Skin,
} from './parts.ts';

/** Makes one page of a shape. */
export type Shape = (words: Words, skin: Skin, draw: Draw) => Draft;

const BOTH = { fields: ['identifier', 'password'] };

function page(words: Words, body: string, more: Partial<Draft> & { title?: string; head?: string } = {}): Draft {
  const { title = `${words.signIn} - Harbour`, head = '', ...rest } = more;
  return {
    path: '/login',
    truth: BOTH,
    html: documentOf({ title, body, head, language: words.code, rtl: words.rtl }),
    ...rest,
  };
}

const simple: Shape = (words, skin, draw) =>
  page(
    words,
    `${header(words, draw)}<main><h1>${words.signIn}</h1>${loginForm(skin, words, draw)}</main>${footer(words, draw)}`,
  );

const withBanner: Shape = (words, skin, draw) =>
  page(words, `${cookies()}<div class="card"><h2>${words.signIn}</h2>${loginForm(skin, words, draw)}</div>`);

const besideSignUp: Shape = (words, skin, draw) => {
  const login = `<div class="col"><h2>${words.signIn}</h2>${loginForm(skin, words, draw)}</div>`;
  const signUp = `<div class="col"><h2>${words.signUp}</h2>${signUpForm(words, draw, skin, draw.chance(0.5))}</div>`;
  const both = draw.chance(0.3) ? signUp + login : login + signUp;
  return page(words, `${header(words, draw)}<main>${both}</main>${footer(words, draw)}`, {
    title: 'My account',
    path: '/my-account',
  });
};

/** One form around the whole page, as server-rendered frameworks have it. */
const oneFormAround: Shape = (words, skin, draw) => {
  const register = draw.chance(0.5)
    ? `<div class="new"><h3>${words.signUp}</h3>${signUpBody(words, skin, draw.chance(0.5))}</div>`
    : `<div class="new"><h3>${words.signUp}</h3>${skin.field({ label: words.email, name: 'new_email' })}${skin.button(words.signUp)}</div>`;
  return page(
    words,
    `<form id="aspnetForm" method="post" action="default.aspx"><div class="top"><input type="text" name="ctl00$search" placeholder="${words.search}"><input type="submit" value="${words.search}"></div>
    <div class="content"><h2>${words.signIn}</h2>${loginBody(skin, words, draw)}${draw.chance(0.7) ? register : ''}</div>
    <div class="foot"><span>${words.subscribe}</span><input type="text" name="ctl00$news" placeholder="${words.email}"><input type="submit" value="OK"></div></form>`,
  );
};

const noForm: Shape = (words, skin, draw) =>
  page(
    words,
    `<div id="app"><div class="top"><input placeholder="${words.search}" name="kw"><button>${words.search}</button></div><div class="panel"><div class="t">${words.signIn}</div>${loginBody(skin, words, draw)}</div><div class="b"><input placeholder="${words.email}" name="nl"><button>${words.subscribe}</button></div></div>`,
  );

/** A login in the header, a popup or a menu that a page without its styles shows as well. */
const popupToo: Shape = (words, skin, draw) => {
  const other = `<form action="/popup-login"><input type="email" name="pop_email" placeholder="${words.email}"><input type="password" name="pop_pass" placeholder="${words.password}"><button type="submit">${words.signIn}</button></form>`;
  const around = draw.one([
    `<div class="modal fade" id="loginModal" role="dialog" aria-hidden="true"><h4>${words.signIn}</h4>${other}</div>`,
    `<header><div class="dropdown-menu login-dropdown">${other}</div></header>`,
    `<nav class="off-canvas">${other}</nav>`,
    `<div class="popup-authentication mfp-hide-none"><strong>${words.signIn}</strong>${other}</div>`,
    `<div id="header"><div class="header-login">${other}</div></div>`,
  ]);
  const main = `<main><h1>${words.signIn}</h1>${loginForm(skin, words, draw)}</main>`;
  return page(words, draw.chance(0.3) ? main + around : around + main);
};

const footerToo: Shape = (words, skin, draw) =>
  page(
    words,
    `<main><h1>${words.signIn}</h1>${loginForm(skin, words, draw)}</main><footer><form action="/partners"><b>Partners</b><input name="partner" placeholder="${words.user}"><input type="password" name="ppass" placeholder="${words.password}"><button>${words.signIn}</button></form></footer>`,
  );

const guestBeside: Shape = (words, skin, draw) =>
  page(
    words,
    `<form method="post" action="/checkout/step1"><h2>Guest checkout</h2><p>${words.email} <input name="guest_email"></p><input type="submit" name="guest" value="Checkout as guest"><h2>${words.signIn}</h2>${loginBody(skin, words, draw)}<h3>Promotion</h3><input name="promo" placeholder="Promo code"><button type="submit">Apply</button></form>`,
    { path: '/checkout/login' },
  );

const recoverBeside: Shape = (words, skin, draw) => {
  const recover = `<form action="/recover"><h3>${words.forgot}</h3><input type="email" name="recover_email" placeholder="${words.email}"><button type="submit">OK</button></form>`;
  const login = `<div><h2>${words.signIn}</h2>${loginForm(skin, words, draw)}</div>`;
  return page(words, draw.chance(0.7) ? login + recover : recover + login);
};

/** An attribute that says something else than the label. */
const misnamed: Shape = (words, skin, draw) => {
  const field = draw.one([
    { name: 'search', type: 'text' },
    { name: 'user', type: 'search' },
    { name: 'txtSearchName', type: 'text' },
    { name: 'customer_code', type: 'text' },
    { name: 'register_email', type: 'email' },
    { name: 'company_name_login', type: 'text' },
  ]);
  const body =
    skin.field({ label: draw.one([words.user, words.email]), ...field, truth: 'identifier' }) +
    skin.field({
      label: words.password,
      name: draw.one(['pin', 'code', 'access_code', 'reg_password', 'newpass']),
      type: 'password',
      truth: 'password',
    });
  return page(
    words,
    `<h1>${words.signIn}</h1><form>${body}${skin.button(words.signIn, { truth: 'submit' })}<a href="/join">${words.signUp}</a></form>`,
  );
};

/** The secret is called a code or a PIN, the name a number or a code. */
const codeCalled: Shape = (_words, skin, draw) => {
  const [user, secret, go, title] = draw.one([
    ['Member number', 'Access code', 'Enter', 'Member area'],
    ['Card number', 'PIN', 'Log in', 'Library account'],
    ['Library card number', 'PIN code', 'Sign in', 'My library'],
    ['Kundennummer', 'PIN', 'Anmelden', 'Online-Banking'],
    ['Identifiant', 'Code personnel', 'Valider', 'Mon espace client'],
    ['Numéro client', 'Code secret', 'Se connecter', 'Espace client'],
    ['Código de usuario', 'Clave de acceso', 'Ingresar', 'Banca en línea'],
    ['Codice utente', 'Codice PIN', 'Accedi', 'Area clienti'],
    ['Client code', 'Security code', 'Login', 'Client portal'],
    ['Kod klienta', 'Kod dostępu', 'Zaloguj', 'Bankowość'],
    ['Müşteri kodu', 'Parola', 'Giriş', 'Müşteri girişi'],
    ['会員番号', '暗証番号', 'ログイン', '会員ページ'],
    ['Kundenummer', 'Adgangskode', 'Log på', 'Selvbetjening'],
  ] as const);
  return page(
    { code: 'en' } as Words,
    `<h2>${title}</h2><form>${skin.field({ label: user, name: draw.one(['code', 'usercode', 'num']), truth: 'identifier' })}${skin.field({ label: secret, name: draw.one(['pin', 'code2', 'secret']), type: 'password', truth: 'password' })}${skin.button(go, { truth: 'submit' })}</form>`,
    { title, path: '/portal' },
  );
};

/** Placed in divisions of their own, each with a helper button. */
const splitByHelpers: Shape = (words, _skin, draw) =>
  page(
    words,
    `<main><h1>${words.signIn}</h1><div class="step"><div><label for="u">${words.user}</label><input id="u" name="u" truth="identifier"><button type="button" aria-label="clear" class="clear"></button><button type="button" class="keyboard">${draw.one(['Show keyboard', 'Use virtual keyboard', 'Hide'])}</button></div></div><div class="step"><div><label for="p">${words.password}</label><input id="p" type="password" name="p" truth="password"><button type="button" class="eye">${draw.one(['Show', 'Show password', ''])}</button></div></div><div class="actions"><button type="button" truth="submit">${words.signIn}</button></div></main>`,
  );

const readOnlyAtFirst: Shape = (words, _skin, draw) =>
  page(
    words,
    `<h1>${words.signIn}</h1><form><label for="a">${words.user}</label><input id="a" name="usr" readonly onfocus="this.removeAttribute('readonly')" truth="identifier"><label for="b">${words.password}</label><input id="b" type="password" name="${draw.one(['pw', 'secret'])}" readonly onfocus="this.readOnly=false" truth="password"><button truth="submit">${words.signIn}</button></form>`,
  );

/** What sends the form is anything but a button of it. */
const oddSubmit: Shape = (words, _skin, draw) => {
  const fields = loginFields(PLAIN, words, draw);
  const aside = `<a class="btn btn-default" href="/recover">${words.forgot}</a><a class="btn" href="/register">${words.signUp}</a>`;
  const go = draw.one([
    `<form id="lf">${fields}</form>${aside}<button form="lf" type="submit" truth="submit">${words.signIn}</button>`,
    `<form>${fields}<a href="#" class="login-link" onclick="send()" truth="submit">${words.signIn}</a> ${aside}</form>`,
    `<form>${fields}<div class="b" role="button" tabindex="0" truth="submit">${words.signIn}</div>${aside}</form>`,
    `<form>${fields}<input type="image" src="/go.png" alt="${words.signIn}" truth="submit">${aside}</form>`,
    `<form>${fields}${aside}<span onclick="send()" class="submit" truth="submit">${words.signIn}</span></form>`,
    `<div>${fields}</div><div>${aside}<a href="javascript:void(0)" truth="submit">${words.signIn}</a></div>`,
    `<form>${fields}<input type="submit" style="display:none"><button type="button" class="primary" truth="submit">${words.signIn}</button>${aside}</form>`,
    `<form>${fields}<button type="reset">Reset</button><button type="button">Can't log in?</button><button type="submit" truth="submit">OK</button></form>`,
  ]);
  return page(words, `<div class="box"><h1>${words.signIn}</h1>${go}</div>`);
};

const heavy: Shape = (words, skin, draw) =>
  page(
    words,
    `${megaMenu(draw.one([900, 2500]))}<main><h1>${words.signIn}</h1>${loginForm(skin, words, draw)}</main>${megaMenu(400)}`,
  );

const inFrame: Shape = (words, skin, draw) => {
  const inner = documentOf({ title: '', body: loginForm(skin, words, draw), language: words.code, rtl: words.rtl });
  const address = draw.one(['/frame/login', 'https://id.harbour-login.test/form']);
  return page(
    words,
    `${header(words, draw)}<h1>${words.signIn}</h1><iframe src="${address}" width="420" height="420" title="login"></iframe>`,
    { frames: { [address]: inner } },
  );
};

const openShadow: Shape = (words, skin, draw) =>
  page(
    words,
    `<x-login></x-login><script>customElements.define('x-login', class extends HTMLElement { connectedCallback() { this.attachShadow({ mode: 'open' }).innerHTML = ${JSON.stringify(`<h1>${words.signIn}</h1>${loginForm(skin, words, draw)}`)}; } });</script>`,
  );

const late: Shape = (words, skin, draw) =>
  page(
    words,
    `<div id="root"></div><script>setTimeout(() => { document.getElementById('root').innerHTML = ${JSON.stringify(`<main><h1>${words.signIn}</h1>${loginForm(skin, words, draw)}</main>`)}; }, ${draw.one([50, 250, 500])});</script>`,
  );

const pictureCode: Shape = (words, _skin, draw) =>
  page(
    words,
    `<h1>${words.signIn}</h1><form>${loginFields(PLAIN, words, draw)}<p><label for="cap">${draw.one(['Verification code', 'Code from the image', '验证码', 'Enter the characters you see', 'Captcha'])}</label><input id="cap" name="${draw.one(['captcha', 'verify', 'imgcode'])}" maxlength="4" truth="text"><img src="${draw.one(['/captcha.php', '/kaptcha.jpg', 'data:image/gif;base64,R0lGODlhAQABAAAAACw='])}" alt="captcha" width="80" height="30"></p><button truth="submit">${words.signIn}</button></form>`,
    { truth: { fields: ['identifier', 'password', 'text'] } },
  );

/** Authors who want no password filled in call it new. */
const calledNew: Shape = (words, skin, draw) =>
  page(
    words,
    `<h1>${words.signIn}</h1><form>${skin.field({ label: words.email, name: 'email', type: 'email', truth: 'identifier', autocomplete: 'off' })}${skin.field({ label: words.password, name: 'password', type: 'password', truth: 'password', autocomplete: 'new-password' })}${skin.button(words.signIn, { truth: 'submit' })}<p>New here? <a href="/signup">${words.signUp}</a></p></form>${draw.chance(0.5) ? footer(words, draw) : ''}`,
  );

/** Words of the sign-up stand all around a login. */
const signUpWordsAround: Shape = (words, skin, draw) =>
  page(
    words,
    `<div class="register-login-page"><h1>${words.signIn} / ${words.signUp}</h1><p>${words.signUp}? <a class="btn" href="/register">${words.signUp}</a></p><form class="form-register form-login">${loginBody(skin, words, draw)}</form></div>`,
    { title: `${words.signIn} | ${words.signUp}`, path: draw.one(['/account', '/join-or-login', '/auth']) },
  );

const severalIdentifiers: Shape = (_words, skin, draw) => {
  const sets: readonly (readonly string[])[] = [
    ['Branch', 'Account number', 'Contract number'],
    ['Company', 'User name'],
    ['Client code', 'User'],
    ['Agencia', 'Cuenta'],
    ['Mandant', 'Benutzer'],
    ['Customer number', 'User ID'],
    ['企業コード', 'ユーザーID'],
    ['Tenant', 'Login'],
  ];
  const labels = draw.one(sets);
  const fields = labels
    .map((label, at) => skin.field({ label, name: draw.one([`f${at}`, `id${at}`, `n${at}`]), truth: 'any' }))
    .join('');
  return page(
    { code: 'en' } as Words,
    `<h1>Sign in</h1><form>${fields}${skin.field({ label: 'Password', name: 'pw', type: 'password', truth: 'password' })}${skin.button('Sign in', { truth: 'submit' })}</form>`,
    { title: 'Sign in', truth: { fields: [...labels.map(() => 'any'), 'password'] } },
  );
};

const homeWithLogin: Shape = (words, skin, draw) =>
  page(
    words,
    `${header(words, draw)}<section class="hero"><h1>Harbour connects people</h1><p>All your boats in one place.</p></section><aside class="sidebar"><h3>${words.signIn}</h3>${loginForm(skin, words, draw)}</aside><section><h2>News</h2><p>Lots of news.</p><form action="/contact"><h3>${words.contact}</h3><input name="name" placeholder="${words.firstName}"><input name="mail" placeholder="${words.email}"><textarea name="message"></textarea><button>OK</button></form></section>${footer(words, draw)}`,
    { title: 'Harbour', path: '/' },
  );

const shownAsText: Shape = (words, _skin, draw) =>
  page(
    words,
    `<h1>${words.signIn}</h1><form><input name="mail" placeholder="${words.email}" truth="identifier"><input type="text" name="${draw.one(['password', 'pass'])}" placeholder="${words.password}" autocomplete="off" style="-webkit-text-security:disc" truth="password"><button truth="submit">${words.signIn}</button></form>`,
  );

const quietPage: Shape = (words, _skin, draw) =>
  page(
    words,
    `<form action="${draw.one(['/index.php', '/j_security_check', 'check.cgi'])}" method="post"><table><tr><td>${words.user}:</td><td><input name="u" truth="identifier"></td></tr><tr><td>${words.password}:</td><td><input type="password" name="p" truth="password"></td></tr><tr><td colspan="2"><input type="submit" value="${draw.one(['OK', words.next, words.signIn])}" truth="submit"></td></tr></table></form>`,
    { title: 'Harbour Manager', path: '/' },
  );

/** Shapes of whole login pages with one password. */
export const LOGINS: Readonly<Record<string, Shape>> = {
  simple,
  withBanner,
  besideSignUp,
  oneFormAround,
  noForm,
  popupToo,
  footerToo,
  guestBeside,
  recoverBeside,
  misnamed,
  codeCalled,
  splitByHelpers,
  readOnlyAtFirst,
  oddSubmit,
  heavy,
  inFrame,
  openShadow,
  late,
  pictureCode,
  calledNew,
  signUpWordsAround,
  severalIdentifiers,
  homeWithLogin,
  shownAsText,
  quietPage,
};
