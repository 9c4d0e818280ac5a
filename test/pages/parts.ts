import type { Draw } from './draw.ts';
import type { Words } from './languages.ts';

/** A field as a page's author thinks of it. */
export interface FieldPart {
  readonly label: string;
  readonly name: string;
  readonly type?: string;
  /** What the reader should take it for; left out where it belongs to no login. */
  readonly truth?: string;
  readonly autocomplete?: string;
  readonly more?: string;
}

/** Ways in which component libraries and hand-written pages draw a field and a button. */
export interface Skin {
  readonly name: string;
  field(part: FieldPart): string;
  button(label: string, options?: { truth?: string; name?: string }): string;
}

function input(part: FieldPart, more: string): string {
  const truth = part.truth === undefined ? '' : ` truth="${part.truth}"`;
  const autocomplete = part.autocomplete === undefined ? '' : ` autocomplete="${part.autocomplete}"`;
  return `<input type="${part.type ?? 'text'}" name="${part.name}"${autocomplete}${truth} ${part.more ?? ''} ${more}>`;
}

function truthOf(options?: { truth?: string }): string {
  return options?.truth === undefined ? '' : ` truth="${options.truth}"`;
}

const plain: Skin = {
  name: 'plain',
  field: (part) => `<p><label for="f-${part.name}">${part.label}</label> ${input(part, `id="f-${part.name}"`)}</p>`,
  button: (label, options) => `<p><button type="submit"${truthOf(options)}>${label}</button></p>`,
};
const wrapped: Skin = {
  name: 'wrapped',
  field: (part) => `<div class="row"><label>${part.label}: ${input(part, 'class="inp"')}</label></div>`,
  button: (label, options) =>
    `<input type="submit" class="btn" name="${options?.name ?? 'go'}" value="${label}"${truthOf(options)}>`,
};
const bootstrap: Skin = {
  name: 'bootstrap',
  field: (part) =>
    `<div class="form-floating mb-3">${input(part, `class="form-control" id="floating-${part.name}" placeholder="${part.label}"`)}<label for="floating-${part.name}">${part.label}</label></div>`,
  button: (label, options) =>
    `<button class="w-100 btn btn-lg btn-primary" type="submit"${truthOf(options)}>${label}</button>`,
};
const placeholders: Skin = {
  name: 'placeholders',
  field: (part) => `<div class="input-wrap">${input(part, `placeholder="${part.label}"`)}</div>`,
  button: (label, options) => `<button class="cta"${truthOf(options)}>${label}</button>`,
};
const material: Skin = {
  name: 'material',
  field: (part) =>
    `<div class="MuiFormControl-root MuiTextField-root"><label class="MuiInputLabel-root" for=":r${part.name}:">${part.label}<span aria-hidden="true"> *</span></label><div class="MuiInputBase-root">${input(part, `id=":r${part.name}:" class="MuiInputBase-input" aria-invalid="false"`)}<fieldset aria-hidden="true"><legend><span>${part.label} *</span></legend></fieldset></div></div>`,
  button: (label, options) =>
    `<button class="MuiButtonBase-root MuiButton-contained" type="submit" tabindex="0"${truthOf(options)}>${label}<span class="MuiTouchRipple-root"></span></button>`,
};
const ant: Skin = {
  name: 'ant',
  field: (part) =>
    `<div class="ant-row ant-form-item"><div class="ant-col ant-form-item-control"><div class="ant-form-item-control-input-content"><span class="ant-input-affix-wrapper"><span class="ant-input-prefix"><span role="img" class="anticon"></span></span>${input(part, `class="ant-input" placeholder="${part.label}" id="basic_${part.name}"`)}<span class="ant-input-suffix"></span></span></div></div></div>`,
  button: (label, options) =>
    `<button type="button" class="ant-btn ant-btn-primary"${truthOf(options)}><span>${label}</span></button>`,
};
const table: Skin = {
  name: 'table',
  field: (part) =>
    `<table><tr><td align="right"><font size="2">${part.label}</font></td><td>${input(part, 'size="20"')}</td></tr></table>`,
  button: (label, options) =>
    `<table><tr><td></td><td><input type="button" value="${label}" onclick="go()"${truthOf(options)}></td></tr></table>`,
};
const webForms: Skin = {
  name: 'web-forms',
  field: (part) =>
    `<div class="line"><span id="ctl00_Main_lbl${part.name}">${part.label}</span>${input({ ...part, name: `ctl00$Main$txt${part.name}` }, `id="ctl00_Main_txt${part.name}"`)}<span id="ctl00_Main_rfv${part.name}" style="visibility:hidden;color:red">*</span></div>`,
  button: (label, options) =>
    `<a id="ctl00_Main_lnk" class="aspbtn" href="javascript:__doPostBack('ctl00$Main$lnk','')"${truthOf(options)}>${label}</a>`,
};
const faces: Skin = {
  name: 'faces',
  field: (part) =>
    `<div class="ui-g"><div class="ui-g-12"><label class="ui-outputlabel" for="j_idt12:${part.name}">${part.label}</label></div><div class="ui-g-12">${input({ ...part, name: `j_idt12:${part.name}` }, `id="j_idt12:${part.name}" class="ui-inputfield"`)}</div></div>`,
  button: (label, options) =>
    `<button id="j_idt12:j_idt31" name="j_idt12:j_idt31" class="ui-button" type="submit"${truthOf(options)}><span class="ui-button-text">${label}</span></button>`,
};
const drawn: Skin = {
  name: 'drawn',
  field: (part) =>
    `<div class="fld"><div class="cap">${part.label}</div><div class="box">${input(part, '')}<i class="ico"></i></div></div>`,
  button: (label, options) =>
    `<div class="btn-main" role="button" tabindex="0" style="cursor:pointer"${truthOf(options)}>${label}</div>`,
};

/** All skins; the first ones are the most common on the web. */
export const SKINS: readonly Skin[] = [
  plain,
  wrapped,
  bootstrap,
  placeholders,
  material,
  ant,
  table,
  webForms,
  faces,
  drawn,
];
/** The plainest one. */
export const PLAIN = plain;

/** Name and password of a login, as applications name them. */
export function loginFields(skin: Skin, words: Words, draw: Draw): string {
  const byEmail = draw.chance(0.5);
  const name = draw.one(
    byEmail ? ['email', 'login_email', 'Email', 'uid'] : ['username', 'login', 'user', 'name', 'j_username', 'account'],
  );
  const type = byEmail && draw.chance(0.6) ? 'email' : 'text';
  return (
    skin.field({
      label: byEmail ? words.email : words.user,
      name,
      type,
      truth: 'identifier',
      ...(draw.chance(0.4) ? { autocomplete: 'username' } : {}),
    }) +
    skin.field({
      label: words.password,
      name: draw.one(['password', 'pass', 'pwd', 'j_password', 'passwd']),
      type: 'password',
      truth: 'password',
      ...(draw.chance(0.4) ? { autocomplete: draw.one(['current-password', 'off']) } : {}),
    })
  );
}

/** Fields, "remember me", the button and "forgot", without a form around them. */
export function loginBody(skin: Skin, words: Words, draw: Draw): string {
  const remember = draw.chance(0.5) ? `<label><input type="checkbox" name="remember"> ${words.remember}</label>` : '';
  const forgot = draw.chance(0.7) ? `<a href="/recover">${words.forgot}</a>` : '';
  const before = draw.chance(0.5);
  return `${loginFields(skin, words, draw)}${remember}${before ? forgot : ''}${skin.button(words.signIn, { truth: 'submit' })}${before ? '' : forgot}`;
}

/** A whole login form. */
export function loginForm(skin: Skin, words: Words, draw: Draw): string {
  const action = draw.one(['/login', '/session', '/auth', '/do', '']);
  return `<form method="post" action="${action}">${loginBody(skin, words, draw)}</form>`;
}

/** Header with a search box and links. */
export function header(words: Words, draw: Draw): string {
  const search = draw.chance(0.7)
    ? `<form action="/search" role="search"><input type="${draw.one(['text', 'search'])}" name="q" placeholder="${words.search}"><button type="submit">${words.search}</button></form>`
    : '';
  return `<header class="site-header"><a href="/">Harbour</a><nav><a href="/products">Products</a><a href="/about">About</a><a href="/contact">${words.contact}</a></nav>${search}</header>`;
}

/** Footer with news and social links. */
export function footer(words: Words, draw: Draw): string {
  const news = draw.chance(0.7)
    ? `<form action="/news" class="newsletter"><label>${words.subscribe} <input type="email" name="email" placeholder="${words.email}"></label><button>${words.subscribe}</button></form>`
    : '';
  return `<footer><p>© Harbour</p>${news}${draw.chance(0.6) ? social() : ''}</footer>`;
}

/** Links to the site's pages on social networks. */
export function social(): string {
  return `<ul class="social"><li><a href="https://www.facebook.com/harbour" aria-label="Facebook"><i class="icon-facebook"></i></a></li><li><a href="https://twitter.com/harbour" class="fa-twitter" title="Twitter"></a></li><li><a href="https://www.linkedin.com/company/harbour"><img alt="LinkedIn" src="/i/linkedin.svg" width="20" height="20"></a></li></ul>`;
}

/** A banner about cookies. */
export function cookies(): string {
  return '<div id="cookie-banner" class="cookie-consent"><p>We use cookies to improve your experience. Sign in to manage them.</p><button>Accept all</button><button>Reject</button><label>Your email <input type="email" name="cc_email"></label></div>';
}

/** A sign-up form as it stands beside a login. */
export function signUpForm(words: Words, draw: Draw, skin: Skin, twice: boolean): string {
  return `<form method="post" action="${draw.one(['/register', '/account/create', '/signup'])}">${signUpBody(words, skin, twice)}</form>`;
}

/** Fields and button of a sign-up. */
export function signUpBody(words: Words, skin: Skin, twice: boolean): string {
  return (
    skin.field({ label: words.firstName, name: 'first_name' }) +
    skin.field({ label: words.lastName, name: 'last_name' }) +
    skin.field({ label: words.email, name: 'reg_email', type: 'email' }) +
    skin.field({ label: words.password, name: 'reg_pass', type: 'password' }) +
    (twice ? skin.field({ label: words.repeatPassword, name: 'reg_pass2', type: 'password' }) : '') +
    `<label><input type="checkbox" name="terms"> ${words.terms}</label>` +
    skin.button(words.signUp)
  );
}

/** A menu with hundreds of links. */
export function megaMenu(links: number): string {
  const items = Array.from(
    { length: links },
    (_, at) => `<li><a href="/c/${at}"><span>Category ${at}</span></a></li>`,
  ).join('');
  return `<nav class="mega"><ul>${items}</ul></nav>`;
}
