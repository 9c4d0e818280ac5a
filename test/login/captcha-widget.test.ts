import { expect, it } from 'vitest';
import { findWidget, type Widget, type WidgetFacts } from '../../activities/login/captcha/widget.ts';

const GOOGLE = '6LdKlZEpAAAAAAOQjzC2v_d36tWxCl6dWsozdSy9';
const OTHER_GOOGLE = '6LfB5_IbAAAAAMCtsjEHEHKqcB9iQocwwxTiihJu';
const HCAPTCHA = 'a5f74b19-9e45-40e0-b45d-47ff91b7a6c2';
const CLOUDFLARE = '0x4AAAAAAADnPIDROrmt1Wwj';

const element = (names: string, key: string, more: Partial<WidgetFacts['elements'][number]> = {}) => ({
  names,
  key,
  size: '',
  shown: true,
  ...more,
});
const anchor = (key: string, size = 'normal', edition = 'api2') =>
  `https://www.google.com/recaptcha/${edition}/anchor?ar=1&k=${key}&co=aHR0&hl=en&size=${size}&cb=x`;
const scored = (key: string, file = 'api.js') => `https://www.google.com/recaptcha/${file}?render=${key}`;

type Case = [string, Partial<WidgetFacts>, string[], Partial<Widget> | null];
it.each<Case>([
  [
    'an element of reCAPTCHA',
    { elements: [element('g-recaptcha big', GOOGLE)] },
    [],
    { type: 'recaptcha_v2', siteKey: GOOGLE, invisible: false, enterprise: false },
  ],
  [
    'an element of an invisible one',
    { elements: [element('g-recaptcha', GOOGLE, { size: 'invisible', shown: false })] },
    [],
    { type: 'recaptcha_v2', siteKey: GOOGLE, invisible: true },
  ],
  [
    'one whose frame says that it is of Enterprise',
    { elements: [element('login-button', GOOGLE)] },
    [anchor(GOOGLE, 'invisible', 'enterprise')],
    { type: 'recaptcha_v2', siteKey: GOOGLE, invisible: true, enterprise: true },
  ],
  ['a frame of reCAPTCHA alone', {}, [anchor(GOOGLE)], { type: 'recaptcha_v2', siteKey: GOOGLE, invisible: false }],
  [
    'a puzzle of reCAPTCHA alone',
    {},
    [`https://www.recaptcha.net/recaptcha/api2/bframe?hl=en&v=x&k=${GOOGLE}`],
    { type: 'recaptcha_v2', siteKey: GOOGLE },
  ],
  [
    'a badge whose script was loaded for its key',
    { scripts: [scored(GOOGLE)] },
    [anchor(GOOGLE, 'invisible')],
    { type: 'recaptcha_v3', siteKey: GOOGLE },
  ],
  [
    'a script of Enterprise alone',
    { scripts: [scored(GOOGLE, 'enterprise.js')] },
    [],
    { type: 'recaptcha_v3', siteKey: GOOGLE, enterprise: true },
  ],
  [
    'a box to tick beside a badge of another key',
    { elements: [element('g-recaptcha', OTHER_GOOGLE)], scripts: [scored(GOOGLE)] },
    [anchor(GOOGLE, 'invisible'), anchor(OTHER_GOOGLE)],
    { type: 'recaptcha_v2', siteKey: OTHER_GOOGLE },
  ],
  [
    'an element of hCaptcha',
    { elements: [element('h-captcha', HCAPTCHA)] },
    [],
    { type: 'hcaptcha', siteKey: HCAPTCHA },
  ],
  [
    'a frame of hCaptcha alone',
    {},
    [
      `https://newassets.hcaptcha.com/captcha/v1/4f/static/hcaptcha.html#frame=checkbox&id=0&host=a.test&sitekey=${HCAPTCHA}`,
    ],
    { type: 'hcaptcha', siteKey: HCAPTCHA },
  ],
  [
    'an element of Turnstile',
    { elements: [element('cf-turnstile', CLOUDFLARE)] },
    [],
    { type: 'turnstile', siteKey: CLOUDFLARE },
  ],
  [
    'a frame of Turnstile that no script can see',
    {},
    [
      `https://challenges.cloudflare.com/cdn-cgi/challenge-platform/h/b/turnstile/if/ov2/av0/rcv/t8r6f/${CLOUDFLARE}/auto/fbE/new/normal/auto/`,
    ],
    { type: 'turnstile', siteKey: CLOUDFLARE },
  ],
  ['an unnamed element, by its key', { elements: [element('box', HCAPTCHA)] }, [], { type: 'hcaptcha' }],
  [
    'what can be seen before what cannot',
    { elements: [element('h-captcha', HCAPTCHA, { shown: false }), element('cf-turnstile', CLOUDFLARE)] },
    [],
    { type: 'turnstile' },
  ],
  ['no key', { elements: [element('g-recaptcha', '')], scripts: [scored('explicit')] }, [], null],
  ['a key that is none', { elements: [element('g-recaptcha', '"><script>alert(1)</script>')] }, [], null],
  [
    'an element of something else',
    { elements: [element('map', 'abcdefghijklmnop')] },
    ['https://ads.test/recaptcha/api2/anchor?k=1'],
    null,
  ],
  ['a vendor in the name of another host', {}, [anchor(GOOGLE).replace('google.com', 'google.com.evil.test')], null],
])('finds %s', (_what, facts, frames, wanted) => {
  const found = findWidget({ elements: [], scripts: [], ...facts }, frames);
  if (wanted === null) expect(found).toBeNull();
  else expect(found).toMatchObject(wanted);
});
