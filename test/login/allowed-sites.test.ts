import { describe, expect, it } from 'vitest';
import {
  maySendTo,
  mayNavigateTo,
  mayTypeInto,
  mayTypeStoredValue,
  mayUsePasskey,
} from '../../activities/login/allowed-sites.ts';
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

  it('is any https site, or a listed private host over http, without allowed domains', () => {
    expect(mayTypeInto('https://elsewhere.test/', OPEN, egress)).toBe(true);
    expect(mayTypeInto('http://localhost:8081/login', OPEN, egress)).toBe(true);
    expect(mayTypeInto('http://intranet.test:9000/login', OPEN, egress)).toBe(true);
    expect(mayTypeInto('http://localhost:8082/login', OPEN, egress)).toBe(false);
    expect(mayTypeInto('http://elsewhere.test/', OPEN, egress)).toBe(false);
  });
});

describe('where a form may send what was typed into it', () => {
  const LOGIN = 'https://shop.example/login';
  it.each([
    ['another host of its site', LOGIN, RESTRICTED, 'https://api.shop.example/in'],
    ['a domain that the connection names', LOGIN, RESTRICTED, 'https://pay.example/in'],
    ['a provider', LOGIN, RESTRICTED, 'https://acme.okta.com/api/v1/authn'],
    ['a service that takes logins', LOGIN, RESTRICTED, 'https://identitytoolkit.googleapis.com/v1/accounts:signIn'],
    ['another one', LOGIN, RESTRICTED, 'https://cognito-idp.eu-west-1.amazonaws.com/'],
    ['any site where none is named', LOGIN, OPEN, 'https://elsewhere.test/in'],
    ['a listed host by http, as the form came', 'http://localhost:8081/login', OPEN, 'http://localhost:8081/in'],
    ['https from a listed host', 'http://localhost:8081/login', OPEN, 'https://shop.example/in'],
  ])('%s', (_name, from, sites, url) => {
    expect(maySendTo(url, from, sites, egress)).toBe(true);
  });

  it.each([
    ['a site that the connection does not name', LOGIN, RESTRICTED, 'https://elsewhere.test/in'],
    ['a look-alike of a service', LOGIN, RESTRICTED, 'https://cognito-idp.evil.test/'],
    ['a neighbour of one', LOGIN, RESTRICTED, 'https://cognito-idp.s3.eu-west-1.amazonaws.com/'],
    ['its own site by http', LOGIN, OPEN, 'http://shop.example/in'],
    ['a host by http that is not listed', 'http://localhost:8081/login', OPEN, 'http://localhost:8082/in'],
    [
      'a listed host by http where the form came by https',
      'https://intranet.test/login',
      OPEN,
      'http://intranet.test/in',
    ],
  ])('not %s', (_name, from, sites, url) => {
    expect(maySendTo(url, from, sites, egress)).toBe(false);
  });
});

describe('where a stored value may be typed', () => {
  const SITE = { origin: null, domain: 'shop.example', ssoProvider: null };
  const BY_GITHUB = { origin: null, domain: 'shop.example', ssoProvider: 'github' };
  const OF_ACME = { ...SITE, domain: 'acme.okta.com' };
  const BY_ACME = { ...OF_ACME, ssoProvider: 'okta' };
  const typedAt = (origin: string, ssoProvider: string | null = null) => ({ ...SITE, origin, ssoProvider });

  it.each([
    ['the site of the credential', SITE, OPEN, 'https://shop.example/login'],
    ['a host of the same site', SITE, OPEN, 'https://id.shop.example/'],
    ['a domain that the connection names', SITE, RESTRICTED, 'https://pay.example/'],
    ['the site that it was typed into', typedAt('https://id.other.example'), OPEN, 'https://www.other.example/'],
    ['the provider that the credential names', BY_GITHUB, OPEN, 'https://github.com/login'],
    ["the provider's domain", { ...BY_GITHUB, domain: 'git.corp.example' }, OPEN, 'https://git.corp.example/login'],
    ['the host of the provider', typedAt('https://github.com', 'github'), OPEN, 'https://github.com/session'],
    ["a customer's host at a provider", OF_ACME, OPEN, 'https://acme.okta.com/login'],
    ['the same by the name of the provider', BY_ACME, OPEN, 'https://acme.okta.com/login'],
    [
      "the host that a site's customers have at its provider",
      { ...BY_ACME, domain: 'shop.example' },
      OPEN,
      'https://acme.okta.com/',
    ],
    [
      "another customer's host that the connection names",
      BY_ACME,
      { ...OPEN, allowedDomains: ['acme-eu.okta.com'] },
      'https://acme-eu.okta.com/',
    ],
    [
      'the host that it was typed into',
      typedAt('https://acme.eu.auth0.com'),
      OPEN,
      'https://acme.eu.auth0.com/u/login',
    ],
    ['a listed private host', { ...SITE, domain: 'localhost:8081' }, OPEN, 'http://localhost:8081/login'],
  ])('%s', (_name, owner, sites, url) => {
    expect(mayTypeStoredValue(url, owner, sites, egress)).toBe(true);
  });

  it.each([
    ['another site', SITE, OPEN, 'https://evil.example/'],
    ['a look-alike', SITE, OPEN, 'https://shop.example.evil.test/'],
    ['a provider, for a value of the site', SITE, OPEN, 'https://github.com/login'],
    ['a provider, though the connection names domains', SITE, RESTRICTED, 'https://accounts.google.com/'],
    ["the site's own form, for a value of the provider", BY_GITHUB, OPEN, 'https://shop.example/login'],
    [
      'the same where the site is named',
      BY_GITHUB,
      { ...OPEN, allowedDomains: ['shop.example'] },
      'https://shop.example/',
    ],
    ['another provider', BY_GITHUB, OPEN, 'https://accounts.google.com/'],
    [
      'the site, for what was typed at the provider',
      typedAt('https://github.com', 'github'),
      OPEN,
      'https://shop.example/',
    ],
    ['the same without a word of the provider', typedAt('https://github.com'), OPEN, 'https://shop.example/login'],
    ['a sister host of the provider', typedAt('https://id.shop.example', 'corp'), OPEN, 'https://shop.example/login'],
    ['the provider, for what was typed at the site', typedAt('https://shop.example'), OPEN, 'https://github.com/login'],
    [
      'a named domain, for what was typed elsewhere',
      typedAt('https://shop.example'),
      RESTRICTED,
      'https://pay.example/',
    ],
    ["another customer's host at a provider", OF_ACME, OPEN, 'https://evil.okta.com/login'],
    ['the same by the name of the provider', BY_ACME, OPEN, 'https://evil.okta.com/login'],
    ['the same though the connection names domains', BY_ACME, RESTRICTED, 'https://evil.okta.com/login'],
    ['a host below that of a customer', BY_ACME, OPEN, 'https://evil.acme.okta.com/login'],
    [
      "another customer's, for what was typed at one's",
      typedAt('https://acme.onelogin.com'),
      OPEN,
      'https://evil.onelogin.com/',
    ],
    ['the same in one region', typedAt('https://acme.eu.auth0.com'), OPEN, 'https://evil.eu.auth0.com/u/login'],
    ['a neighbour on a shared domain', { ...SITE, domain: 'a.github.io' }, OPEN, 'https://b.github.io/'],
    ['another port of a private host', { ...SITE, domain: 'intranet.test:1' }, OPEN, 'http://localhost:8081/'],
    ['plain http', SITE, OPEN, 'http://shop.example/login'],
    ['no page at all', SITE, OPEN, 'about:blank'],
  ])('not %s', (_name, owner, sites, url) => {
    expect(mayTypeStoredValue(url, owner, sites, egress)).toBe(false);
  });
});

describe('an item of an external secret store that lists its sites', () => {
  const owner = { origin: null, domain: 'shop.example', ssoProvider: null, sites: ['https://bank.example/login'] };
  const sites = { domain: 'shop.example', allowedDomains: ['pay.example'] };

  it('is typed only there, whatever the connection allows', () => {
    const open = { ...sites, allowedDomains: [] };
    expect(mayTypeStoredValue('https://login.bank.example/', owner, open, egress)).toBe(true);
    expect(mayTypeStoredValue('https://shop.example/login', owner, open, egress)).toBe(false);
    expect(mayTypeStoredValue('https://pay.example/', owner, sites, egress)).toBe(false);
  });

  it('is typed at its provider too, but not on the site that offers the provider', () => {
    const google = { ...owner, ssoProvider: 'google', sites: ['https://shop.example/'] };
    expect(mayTypeStoredValue('https://accounts.google.com/', google, sites, egress)).toBe(true);
    expect(mayTypeStoredValue('https://shop.example/login', google, sites, egress)).toBe(false);
  });

  it("is typed at the tenant host that it lists, and at no other tenant's", () => {
    const okta = { ...owner, ssoProvider: 'okta', sites: ['https://acme.okta.com/'] };
    expect(mayTypeStoredValue('https://acme.okta.com/login', okta, sites, egress)).toBe(true);
    expect(mayTypeStoredValue('https://evil.okta.com/login', okta, sites, egress)).toBe(false);
    expect(mayTypeStoredValue('https://evil.okta.com/login', { ...okta, ssoProvider: null }, sites, egress)).toBe(
      false,
    );
  });

  it('belongs to the site of its connection if it lists only apps', () => {
    const bare = { ...owner, sites: [] };
    expect(mayTypeStoredValue('https://shop.example/login', bare, sites, egress)).toBe(true);
    expect(mayTypeStoredValue('https://bank.example/', bare, sites, egress)).toBe(false);
  });
});

describe('where a passkey may be used', () => {
  const sites = { domain: 'app.shop.example:8443', allowedDomains: ['pay.example'] };
  it.each(['app.shop.example', 'shop.example', 'id.app.shop.example', 'pay.example', 'google.com', 'github.com'])(
    'one of %s',
    (rpId) => {
      expect(mayUsePasskey(rpId, sites)).toBe(true);
    },
  );
  it.each(['other.example', 'evilshop.example', 'id.shop.example', 'pay.example.evil.test', 'evil.test'])(
    'none of %s',
    (rpId) => {
      expect(mayUsePasskey(rpId, sites)).toBe(false);
    },
  );
});

describe('where a page that a person acts on may navigate', () => {
  it.each(['https://shop.example/a', 'https://id.shop.example/', 'https://pay.example/', 'https://github.com/x'])(
    'to %s',
    (url) => {
      expect(mayNavigateTo(url, RESTRICTED)).toBe(true);
    },
  );
  it.each(['https://other.example/', 'https://shop.example.evil.test/', 'file:///etc/passwd', 'javascript:1', 'x'])(
    'not to %s',
    (url) => {
      expect(mayNavigateTo(url, RESTRICTED)).toBe(false);
      expect(mayNavigateTo(url, OPEN)).toBe(false);
    },
  );
});
