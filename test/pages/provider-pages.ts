import type { Shape } from './logins.ts';
import { documentOf, type Draft, type Truth } from './page.ts';
import { footer, header, loginForm, social } from './parts.ts';

function page(
  body: string,
  truth: Truth,
  more: { title?: string; path?: string; frames?: Record<string, string> } = {},
): Draft {
  const frames = more.frames === undefined ? {} : { frames: more.frames };
  return { path: more.path ?? '/login', truth, html: documentOf({ title: more.title ?? 'Sign in', body }), ...frames };
}

const NAMES: Readonly<Record<string, string>> = {
  google: 'Google',
  facebook: 'Facebook',
  apple: 'Apple',
  github: 'GitHub',
  microsoft: 'Microsoft',
  linkedin: 'LinkedIn',
  twitter: 'Twitter',
  gitlab: 'GitLab',
};
const IDS = Object.keys(NAMES);

/** Ways in which a page draws a button to a provider. */
const BUTTONS: readonly ((id: string, name: string) => string)[] = [
  (id, name) => `<a class="btn btn-${id}" href="/auth/${id}" truth="sso:${id}">Continue with ${name}</a>`,
  (id, name) => `<button type="button" truth="sso:${id}"><img src="/i.svg" alt="">Sign in with ${name}</button>`,
  (id, name) =>
    `<a href="/users/auth/${id}" aria-label="${name}" truth="sso:${id}"><svg width="20" height="20"></svg></a>`,
  (id) =>
    `<a class="social-btn ${id}" href="/oauth/${id}" truth="sso:${id}"><i class="fa fa-${id}" style="display:inline-block;width:20px;height:20px"></i></a>`,
  (id) =>
    `<button class="btn-social btn-${id}" type="submit" name="provider" truth="sso:${id}"><span style="display:inline-block;width:20px;height:20px"></span></button>`,
  (id, name) => `<div role="button" tabindex="0" data-provider="${id}" truth="sso:${id}">${name}</div>`,
  (id, name) =>
    `<div class="${id}-login" onclick="go()" truth="sso:${id}"><img src="/img/${id}.png" alt="${name}" width="24" height="24"></div>`,
  (id, name) => `<a href="https://id.example.com/oauth2/authorize?client_id=1&idp=${id}" truth="sso:${id}">${name}</a>`,
  (id, name) =>
    `<form action="/external-login" method="post"><button name="provider" value="${name}" title="Log in using your ${name} account" truth="sso:${id}">${name}</button></form>`,
  (id, name) =>
    `<a href="#" class="socialButton" title="Login with ${name}" truth="sso:${id}"><img src="/${id}-logo.svg" width="24" height="24"></a>`,
];

const providerButtons: Shape = (words, skin, draw) => {
  const first = draw.below(IDS.length);
  const unique = Array.from({ length: 1 + draw.below(3) }, (_, at) => IDS[(first + at * 3) % IDS.length] ?? 'google');
  const drawButton = draw.one(BUTTONS);
  const list = `<div class="social-logins"><p>Or continue with</p>${unique.map((id) => drawButton(id, NAMES[id] ?? id)).join('')}</div>`;
  const form = loginForm(skin, words, draw);
  return page(
    `${header(words, draw)}<main><h1>Sign in</h1>${draw.chance(0.5) ? list + form : form + list}</main>${footer(words, draw)}`,
    { fields: ['identifier', 'password'], providers: unique.map((id) => `sso:${id}`) },
  );
};

const frameButton: Shape = (words, skin, draw) => {
  const address = 'https://accounts.google.com/gsi/button?theme=outline';
  return page(
    `<main><h1>Sign in</h1>${loginForm(skin, words, draw)}<div id="g_id"><iframe src="${address}" title="Sign in with Google Button" width="240" height="44"></iframe></div></main>`,
    { fields: ['identifier', 'password'], providers: ['sso:google'] },
    {
      frames: {
        [address]: documentOf({
          title: 'Sign in with Google Button',
          body: '<div id="container"><div role="button" tabindex="0" style="cursor:pointer" truth="sso:google"><span>Sign in with Google</span></div></div>',
        }),
      },
    },
  );
};

const ownBrand: Shape = (_words, skin, draw) => {
  const brand = draw.one(['Google', 'Microsoft', 'Apple', 'GitHub', 'Harbour']);
  return page(
    `<h1>${brand}</h1><form>${skin.field({ label: 'Username', name: 'u', truth: 'identifier' })}${skin.field({ label: 'Password', name: 'p', type: 'password', truth: 'password' })}${skin.button(draw.one([`Log in to ${brand}`, 'Log in']), { truth: 'submit' })}</form>`,
    { fields: ['identifier', 'password'], providers: [] },
    { title: `Log in to ${brand}` },
  );
};

const organizationSignIn: Shape = (words, skin, draw) => {
  const [label, provider] = draw.one([
    ['Sign in with SSO', 'sso:sso'],
    ['Log in with SAML', 'sso:saml'],
    ['Continue with Contoso ID', 'sso:contoso'],
    ['Sign in with Okta', 'sso:okta'],
    ['Single sign-on', 'sso:sso'],
    ['Mit Azure AD anmelden', 'sso:microsoft'],
  ] as const);
  return page(
    `<main><h1>Sign in</h1>${loginForm(skin, words, draw)}<a class="button" href="/sso/start" truth="${provider}">${label}</a></main>`,
    { fields: ['identifier', 'password'], providers: [provider] },
  );
};

/** Brands that are no buttons to sign in, beside a login or without one. */
const brandsAround: Shape = (words, skin, draw) => {
  const around = [
    '<nav class="brands"><a href="/brands/apple">Apple</a><a href="/brands/microsoft">Microsoft</a><a href="/c/google">Google</a></nav>',
    social(),
    '<div class="share"><a href="https://www.facebook.com/sharer/sharer.php?u=x" class="share-facebook" aria-label="Facebook"></a><button class="btn-twitter">Share on Twitter</button></div>',
    '<div class="apps"><a href="https://play.google.com/store/apps/details?id=x"><img alt="Google Play" src="/gp.png" width="80" height="30"></a><a href="https://apps.apple.com/app/id1"><img alt="Download on the App Store" src="/as.png" width="80" height="30"></a></div>',
    '<p><a href="/docs/sso">SSO</a> <a href="/docs/oauth/github">GitHub</a> <a href="https://github.com/harbour/harbour">GitHub</a></p>',
    '<div class="pay"><a href="/checkout/paypal"><img alt="PayPal" src="/pp.png" width="80" height="30"></a><button class="amazon-pay">Amazon Pay</button><button class="apple-pay">Apple Pay</button><span>Google Pay</span></div>',
    '<ul><li><a href="/integrations/slack">Slack</a></li><li><a href="/integrations/salesforce">Salesforce</a></li><li><a href="/integrations/google-login">Google login</a></li></ul>',
    '<a href="https://status.example.com">Status</a><a href="https://www.facebook.com/harbour/login">Like us on Facebook</a>',
  ];
  const drawn = [draw.one(around), draw.one(around)].join('');
  if (draw.chance(0.5)) {
    return page(
      `${header(words, draw)}<main><h1>Sign in</h1>${loginForm(skin, words, draw)}</main>${drawn}${footer(words, draw)}`,
      { fields: ['identifier', 'password'], providers: [] },
    );
  }
  return page(
    `${header(words, draw)}<main><h1>Things we sell</h1><p>Good things, all of them, and more to come.</p></main>${drawn}${footer(words, draw)}`,
    { fields: [], providers: [] },
    { title: 'Harbour', path: '/' },
  );
};

/** Shapes of pages about providers. */
export const PROVIDER_PAGES: Readonly<Record<string, Shape>> = {
  providerButtons,
  frameButton,
  ownBrand,
  organizationSignIn,
  brandsAround,
};
