import { describe, expect, it } from 'vitest';
import { mayTypeInto } from '../../activities/login/allowed-site.ts';
import { createEgressPolicy } from '../../egress/policy.ts';

const egress = createEgressPolicy('localhost:8081,intranet.test');
const RESTRICTED = { domain: 'shop.example', allowedDomains: ['pay.example'] };
const OPEN = { domain: 'shop.example', allowedDomains: [] };

describe('where a credential may be typed', () => {
  it.each([
    'https://shop.example/login',
    'https://www.shop.example/login',
    'https://id.shop.example/',
    'https://pay.example/',
    'https://a.b.pay.example/',
    'https://accounts.google.com/signin',
    'https://login.microsoftonline.com/x',
    'https://acme.okta.com/',
    'https://eu.auth0.com/',
    'https://github.com/login',
  ])('%s is allowed', (url) => {
    expect(mayTypeInto(url, RESTRICTED, egress)).toBe(true);
  });

  it.each([
    'https://shop.example.evil.test/login',
    'https://evilshop.example/',
    'https://shop-example.test/',
    'https://pay.example.evil.test/',
    'https://notpay.example/',
    'https://okta.com/',
    'https://okta.com.evil.test/',
    'https://acme.okta.com.evil.test/',
    'https://evilokta.com/',
    'https://mail.google.com/',
    'https://accounts.google.com.evil.test/',
    'https://gist.github.com/',
    'https://github.com.evil.test/',
    'https://m.facebook.com/',
    'https://shop.example@evil.test/',
    'https://evil.test/?next=https://shop.example/',
    'https://evil.test/#https://shop.example/',
    'https://evil.test/shop.example',
    'http://shop.example/login',
    'http://pay.example/',
    'http://accounts.google.com/',
    'https://xn--shp-tna.example/',
    'https://shop.example.',
    'https://127.0.0.1/',
    'https://[::1]/',
    'http://localhost:8082/',
    'http://localhost/',
    'file:///etc/passwd',
    'data:text/html,<input type=password>',
    'about:blank',
    'javascript:alert(1)',
    'chrome-error://chromewebdata/',
    '',
  ])('%s is not', (url) => {
    expect(mayTypeInto(url, RESTRICTED, egress)).toBe(false);
  });

  it('is any https site, and a listed private host by http, when no domains are named', () => {
    expect(mayTypeInto('https://elsewhere.test/', OPEN, egress)).toBe(true);
    expect(mayTypeInto('http://localhost:8081/login', OPEN, egress)).toBe(true);
    expect(mayTypeInto('http://intranet.test:9000/login', OPEN, egress)).toBe(true);
    expect(mayTypeInto('http://localhost:8082/login', OPEN, egress)).toBe(false);
    expect(mayTypeInto('http://elsewhere.test/', OPEN, egress)).toBe(false);
  });
});
