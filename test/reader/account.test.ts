import { describe, expect, it } from 'vitest';
import { isDifferentAccount } from '../../activities/login/finish-login.ts';
import type { FrameFacts, TextFacts } from '../../reader/facts.ts';
import { findNamedAccount } from '../../reader/signs/signed-in.ts';

/** A page that says these texts, each in its region; a heading is marked by `#`. */
function saying(...said: [region: TextFacts['region'], text: string][]) {
  const box = { x: 0, y: 0, width: 10, height: 10 };
  const texts = said.map(([region, text], order): TextFacts => {
    const heading = text.startsWith('#');
    const words = heading ? text.slice(1) : text;
    const facts = {
      order,
      box,
      form: -1,
      region,
      text: words,
      plain: words,
      tag: 'p',
      heading,
      within: 'none' as const,
    };
    return { ...facts, marks: '', red: false, describesInvalid: false, describes: false };
  });
  const facts: FrameFacts = {
    ...{ url: 'https://a.example/', title: '', language: 'en', status: 200, viewport: { width: 1, height: 1 } },
    ...{ controls: [], clickables: [], forms: [], checkboxes: [], frames: [], busy: false, still: true },
    texts,
  };
  return [{ path: [], facts }];
}

describe('the account shown by a page', () => {
  it.each([
    [saying(['header', 'Anna@Example.com']), { email: 'anna@example.com' }],
    [saying(['main', 'Signed in as anna@example.com.']), { email: 'anna@example.com' }],
    [saying(['main', 'Angemeldet als Anna Adler']), { name: 'anna adler' }],
    [saying(['main', '#Hello, Anna Adler!'], ['nav', 'a@example.com']), { name: 'anna adler', email: 'a@example.com' }],
  ])('is what stands where pages name their visitor (%#)', (page, named) => {
    expect(findNamedAccount(page)).toEqual(named);
  });

  it.each([
    ['an address in the text', saying(['main', 'anna@example.com'])],
    ['an address of the site', saying(['header', 'support@shop.example'])],
    ['several addresses', saying(['header', 'anna@example.com'], ['nav', 'ben@example.com'])],
    ['a footer', saying(['footer', 'Signed in as anna@example.com'])],
    ['a greeting to everybody', saying(['main', '#Welcome back!'])],
  ])('is not known from %s', (_what, page) => {
    expect(findNamedAccount(page)).toEqual({});
  });
});

describe('another account', () => {
  const page = 'a.example/account';
  it.each([
    ['another address', { page, email: '1', name: 'a' }, { page, email: '2', name: 'a' }, true],
    ['another name and no address', { page, name: 'a' }, { page, name: 'b' }, true],
    ['the same address under another name', { page, email: '1', name: 'a' }, { page, email: '1', name: 'b' }, false],
    ['another page', { page, email: '1' }, { page: 'a.example/', email: '2' }, false],
    ['an address where there was a name', { page, name: 'a' }, { page, email: '2' }, false],
    ['nothing known before', undefined, { page, email: '2' }, false],
    ['nothing known now', { page, email: '1' }, null, false],
  ])('%s', (_what, before, now, other) => {
    expect(isDifferentAccount(before, now)).toBe(other);
  });
});
