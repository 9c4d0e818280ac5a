import type { Shape } from './logins.ts';
import { documentOf, type Draft, type Truth } from './page.ts';
import { footer, header, loginForm } from './parts.ts';

/** What comes before, between and after logins. */

function page(title: string, body: string, truth: Truth, more: { path?: string; status?: number } = {}): Draft {
  return {
    path: more.path ?? '/',
    truth,
    html: documentOf({ title, body }),
    ...(more.status ? { status: more.status } : {}),
  };
}

const inside: Shape = (words, _skin, draw) => {
  const nav = draw.one([
    `<header><nav><a href="/dashboard">Dashboard</a></nav><details><summary>Ann Example</summary><ul><li><a href="/profile">Your profile</a></li><li><a href="/logout">Sign out</a></li></ul></details></header>`,
    `<header><a href="/">Harbour</a><button aria-label="Account menu" aria-haspopup="true"><img alt="Ann Example" src="/a.png" width="32" height="32"></button><div hidden><a href="/logout">Log out</a></div></header>`,
    `<aside class="sidebar"><a href="/inbox">Inbox</a><a href="/settings">Settings</a><div class="user">ann@example.com</div><form action="/session/destroy"><button>Log out</button></form></aside>`,
    `<header><span class="username">Hello, Ann</span> <a href="/users/sign_out" data-method="delete"><i class="icon"></i></a></header>`,
    `<div class="topbar"><button class="avatar" aria-haspopup="menu" aria-label="Open user menu">AE</button></div><aside><a href="/app/settings">Settings</a><a href="/app/settings/profile">My profile</a></aside>`,
  ]);
  const body = draw.one([
    '<main><h1>Dashboard</h1><p>3 boats arrived today. Nothing else happened.</p></main>',
    `<main><h1>Settings</h1><ul><li><a href="/settings/profile">Profile</a></li><li><a href="/settings/sign-in">Signing in</a></li><li><a href="/settings/sso">SSO</a></li></ul></main>`,
    '<main><h1>Welcome, Ann</h1><div style="display:none"><a href="/help/login">Signing in</a></div><table><tr><td>Boat</td><td>Harbour</td></tr></table></main>',
    '<main><h2>Projects</h2><form><input name="q" placeholder="Search projects"></form><a href="/new">New project</a></main>',
    '<main><h1>Connected accounts</h1><p>Google <a href="/auth/google">Connect</a></p><p>GitHub <a href="/auth/github">Connect</a></p></main>',
  ]);
  return page(
    'Harbour',
    nav + body + (draw.chance(0.4) ? footer(words, draw) : ''),
    { fields: [], kind: ['logged_in'] },
    { path: '/app' },
  );
};

const outside: Shape = (words, _skin, draw) =>
  page(
    'Harbour',
    `<header><a href="/">Harbour</a><a href="/login">${words.signIn}</a><a href="/signup">${words.signUp}</a></header><main><h1>Boats for everyone</h1><p>Sorry, we are closed today. Security matters to us.</p>${draw.chance(0.5) ? '<p>Read how to sign out of other devices in our <a href="/help">help</a>.</p>' : ''}</main>${footer(words, draw)}`,
    { fields: [], kind: ['other'] },
  );

const sorry: Shape = (_words, _skin, draw) =>
  page(
    draw.one(['Harbour', 'Thank you', 'Notice']),
    `<h1>${draw.one(['Sorry', 'Sorry, this page has moved', 'Thank you', 'We are sorry to see you go', 'Security', 'Forbidden fruit shop', 'Boats, cars and trains'])}</h1><p>${draw.one(['Our office is closed on Sundays.', 'Please come back on Monday, thank you.', 'Everything about apples, pears and plums.', 'You can find what you look for in the shop.'])}</p><a href="/">Home</a>`,
    { fields: [], kind: ['other'] },
    { path: '/notice' },
  );

const refused: Shape = (_words, _skin, draw) => {
  const [title, text, status] = draw.one([
    ['Access denied', 'You do not have permission to access this server. Reference #18.2f', 403],
    ['Attention Required! | Cloudflare', 'Sorry, you have been blocked. You are unable to access harbour.test', 403],
    ['403 Forbidden', 'Request forbidden by administrative rules.', 403],
    ['Pardon Our Interruption', 'As you were browsing something about your browser made us think you were a bot.', 200],
  ] as const);
  return page(title, `<h1>${title}</h1><p>${text}</p>`, { fields: [], kind: ['blocked'] }, { status, path: '/login' });
};

const locked: Shape = (words, skin, draw) => {
  const text = draw.one([
    'Too many attempts. Please try again in 15 minutes.',
    'Your account has been locked because of too many failed sign-in attempts.',
    'Account locked. Contact your administrator.',
    'Zu viele Anmeldeversuche. Versuchen Sie es später noch einmal.',
    'Trop de tentatives de connexion. Réessayez plus tard.',
    'Demasiados intentos. Inténtalo de nuevo más tarde.',
  ]);
  const form = draw.chance(0.6);
  return page(
    'Sign in',
    `<main><h1>Sign in</h1><div class="alert alert-danger" role="alert">${text}</div>${form ? loginForm(skin, words, draw) : ''}</main>`,
    { fields: form ? ['identifier', 'password'] : [], kind: form ? ['form'] : ['blocked', 'other'] },
    { path: '/login' },
  );
};

const forcedChange: Shape = (_words, skin, draw) =>
  page(
    'Update password',
    `<main><h1>${draw.one(['Update your password', 'Your password has expired', 'You must change your password'])}</h1><p>${draw.one(['You need to change your password to activate your account.', 'Choose a new one to continue.'])}</p><form>${draw.chance(0.5) ? skin.field({ label: 'Current password', name: 'old', type: 'password' }) : ''}${skin.field({ label: 'New password', name: 'n1', type: 'password' })}${skin.field({ label: 'Confirm password', name: 'n2', type: 'password' })}${skin.button('Submit')}</form></main>`,
    { fields: [], kind: ['password_change'] },
    { path: '/login-actions/required-action' },
  );

const devices: Shape = (_words, skin, draw) => {
  const names = draw.one([
    ['phone', 'tablet'],
    ["Ann's Pixel", 'Work laptop'],
    ['Device 1', 'Device 2'],
    ['iPhone', 'Backup key card'],
  ]);
  const drawn = draw.chance(0.5);
  const tiles = names
    .map((name, at) =>
      drawn
        ? `<div class="tile" role="button" tabindex="0">${name}</div>`
        : `<label><input type="radio" name="selectedCredentialId" value="${at}" ${at === 0 ? 'checked' : ''}> ${name}</label>`,
    )
    .join('');
  return page(
    'Sign in',
    `<main><h1>Sign in</h1><form><div class="otp-choice">${tiles}</div>${skin.field({ label: 'One-time code', name: 'otp', truth: 'any' })}${skin.button('Sign In', { truth: 'submit' })}</form></main>`,
    { fields: ['any'], choices: names.map(() => 'mfa_method') },
    { path: '/login-actions/authenticate' },
  );
};

const methods: Shape = (_words, _skin, draw) =>
  page(
    'Verify your identity',
    `<main><h1>${draw.one(["Verify it's you", 'Choose a verification method'])}</h1><ul><li><button>Text message to ••• 42</button></li><li><button>Authenticator app</button></li>${draw.chance(0.5) ? '<li><button>Email a•••@example.com</button></li>' : '<li><button>Call ••• 42</button></li>'}</ul></main>`,
    { fields: [], kind: ['choice'] },
    { path: '/mfa' },
  );

const filledForm: Shape = (words, skin, draw) =>
  page(
    words.signIn,
    `${header(words, draw)}<main><h1>${words.signIn}</h1><p class="error" style="color:red">${draw.one(['Wrong user name or password', 'Invalid credentials.', 'The password you entered is incorrect.'])}</p>${loginForm(skin, words, draw)}</main>`,
    { fields: ['identifier', 'password'], kind: ['form'] },
    { path: '/login' },
  );

const down: Shape = (_words, _skin, draw) =>
  page(
    draw.one(['503 Service Unavailable', '502 Bad Gateway']),
    '<h1>Service unavailable</h1><p>The server is temporarily unable to service your request.</p>',
    { fields: [], kind: ['unavailable'] },
    { status: 503 },
  );

const challenge: Shape = (_words, _skin, draw) =>
  page(
    'Just a moment...',
    `<h1>${draw.one(['Verify you are human by completing the action below.', 'Checking if the site connection is secure'])}</h1><p>harbour.test needs to review the security of your connection before proceeding.</p>`,
    { fields: [], kind: ['captcha'] },
    { status: 403 },
  );

/** Shapes of pages that are told by what they are. */
export const STATES: Readonly<Record<string, Shape>> = {
  inside,
  outside,
  sorry,
  refused,
  locked,
  forcedChange,
  devices,
  methods,
  filledForm,
  down,
  challenge,
};
