import type { Shape } from './logins.ts';
import { documentOf, type Draft } from './page.ts';
import { footer } from './parts.ts';

/** Pages that ask for nothing themselves. The way in of those that have one carries `truth="entrance"`. */

function page(body: string, entrance: boolean, path = '/'): Draft {
  const truth = { fields: [], kind: ['other', 'choice'], entrance };
  return { path, truth, html: documentOf({ title: 'Harbour', body }) };
}

const TEXT = '<p>All your boats in one place, for crews of every size and on every sea of this world.</p>'.repeat(3);
const ENTRANCES = [
  '/login',
  '/users/sign_in',
  '/session/new',
  '/auth',
  '/account/login?next=%2F',
  '/entrar',
  '/portal',
];

const headed: Shape = (words, _skin, draw) => {
  const way = `<a href="${draw.one(ENTRANCES)}" class="btn" truth="entrance">${words.signIn}</a>`;
  const join = `<a href="${draw.one(['/signup', '/login/new-account', '/register'])}">${words.signUp}</a>`;
  const links = '<a href="/products">Products</a><a href="/pricing">Pricing</a>';
  return page(
    `<header>${links}${draw.chance(0.5) ? way + join : join + way}</header><main><h1>Boats</h1>${TEXT}<p>Read <a href="/blog/sign-in">how to sign in safely</a>.</p></main>${footer(words, draw)}`,
    true,
  );
};

const folded: Shape = (words, _skin, draw) =>
  page(
    `<header><button aria-label="Menu">≡</button><nav style="display:none"><a href="/about">About</a><a href="${draw.one(ENTRANCES)}" truth="entrance">${words.signIn}</a></nav><a href="/signup">${words.signUp}</a></header><main><h1>Boats</h1>${TEXT}<a href="/forgot">${words.forgot}</a></main>`,
    true,
  );

const footed: Shape = (words, _skin, draw) =>
  page(
    `<header><a href="/products">Products</a></header><main><h1>Boats</h1>${TEXT}<a href="/help/login-problems">${draw.one(['Trouble logging in?', 'Login help', 'Support'])}</a></main><footer><a href="/imprint">Imprint</a><a href="${draw.one(ENTRANCES)}" truth="entrance">${words.signIn}</a></footer>`,
    true,
  );

const provided: Shape = (words, _skin, draw) => {
  const name = draw.one(['Google', 'GitHub', 'Microsoft']);
  const id = name.toLowerCase();
  const drawn = page(
    `<header><a href="/${draw.one(['auth', 'login/oauth'])}/${id}" truth="sso:${id}">Sign in with ${name}</a><a href="${draw.one(ENTRANCES)}" truth="entrance">${words.signIn}</a></header><main><h1>Boats</h1>${TEXT}</main>${footer(words, draw)}`,
    true,
  );
  return { ...drawn, truth: { ...drawn.truth, providers: [`sso:${id}`] } };
};

const opened: Shape = (words, _skin, draw) =>
  page(
    `<header><a href="/login/help">${draw.one(['Help', 'FAQ'])}</a>${draw.one([
      `<button type="button" truth="entrance">${words.signIn}</button>`,
      `<a href="#" onclick="open()" truth="entrance">${words.signIn}</a>`,
      `<div role="button" tabindex="0" truth="entrance">${words.signIn}</div>`,
    ])}</header><main><h1>Boats</h1>${TEXT}<a href="/docs/auth/sign-in">API: sign in</a></main>`,
    true,
  );

const closed: Shape = (words, _skin, draw) =>
  page(
    `<header><a href="/products">Products</a><a href="/signup">${words.signUp}</a></header><main><h1>Boats</h1>${TEXT}${draw.one(
      [
        '<p>You need <a href="/help/article/42">to sign in to your bank</a> first.</p>',
        '<a href="/settings/sign-in">Signing in</a>',
        `<a href="/password/reset">${words.forgot}</a>`,
        '<a href="/blog/login">Login pages we like</a>',
      ],
    )}</main>`,
    false,
  );

/** All of them. */
export const HOMES: Readonly<Record<string, Shape>> = {
  'home-headed': headed,
  'home-folded': folded,
  'home-footed': footed,
  'home-provided': provided,
  'home-opened': opened,
  'home-closed': closed,
};
