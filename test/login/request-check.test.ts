import { describe, expect, it } from 'vitest';
import { cookiesFor } from '../../activities/login/checks/request-cookies.ts';
import { applyRule, learnRule, type SiteResponse } from '../../activities/login/checks/request-rule.ts';
import type { ProfileCookie } from '../../store/profile-state/state.ts';

function answer(body: string, more: Partial<SiteResponse> = {}): SiteResponse {
  return { status: 200, location: null, body, ...more };
}
const toLogin = answer('', { status: 303, location: 'https://a.example/login?next=1' });
const inside = (nonce: string) =>
  answer(
    `<form action="/logout" id="f-${nonce}"><a href="/settings?n=${nonce}">Ann</a><p id="news${nonce}"></p></form>`,
  );
const outside = answer('<a href="/login">Sign in</a><form action="/session"></form>');

describe('a rule that distinguishes a session', () => {
  it('uses a redirect on one side and markup on the other', () => {
    const rule = learnRule([inside('x'), inside('y')], [toLogin, toLogin]);
    if (rule === null) throw new Error('nothing was learned');
    expect(rule).toMatchObject({ signedOut: { status: 303, location: 'a.example/login', marks: [] } });
    expect(rule.signedIn.marks).toHaveLength(2);
    expect(JSON.stringify(rule)).not.toContain('logout');
    expect(applyRule(rule, inside('z'))).toEqual({ verdict: 'authenticated', decidedBy: 'content' });
    expect(applyRule(rule, toLogin)).toEqual({ verdict: 'expired', decidedBy: 'redirect' });
  });

  it('uses markup if both are pages', () => {
    const rule = learnRule([inside('x'), inside('y')], [outside, outside]);
    if (rule === null) throw new Error('nothing was learned');
    expect(applyRule(rule, inside('z')).verdict).toBe('authenticated');
    expect(applyRule(rule, outside).verdict).toBe('expired');
  });

  it.each([
    ['an outage that answers 200', answer('<h1>We will be back</h1>')],
    ['a server error', answer('', { status: 503 })],
    ['a redirect to elsewhere', answer('', { status: 303, location: 'https://a.example/terms' })],
    ['a page that has the marks of both', answer(inside('z').body + outside.body)],
  ])('is unsure of %s', (_what, met) => {
    for (const out of [toLogin, outside]) {
      const rule = learnRule([inside('x'), inside('y')], [out, out]);
      if (rule === null) throw new Error('nothing was learned');
      expect(applyRule(rule, met)).toEqual(
        // A redirect has no marks to be met.
        out === toLogin && met.body.includes('/logout')
          ? { verdict: 'authenticated', decidedBy: 'content' }
          : { verdict: 'unsure' },
      );
    }
  });

  it.each([
    ['a page that is the same for everybody', inside('x'), inside('x')],
    ['a page that differs only by chance', answer('<p id="abc">'), answer('<p id="def">')],
    ['a signed-in page without a mark', answer('Hello'), toLogin],
  ])('is not learned from %s', (_what, within, without) => {
    expect(learnRule([within, answer(within.body.replace('abc', 'xyz'))], [without, without])).toBeNull();
  });
});

describe('the cookies of a request', () => {
  const cookie = (name: string, more: Partial<ProfileCookie> = {}): ProfileCookie => ({
    ...{ name, value: 'v', domain: 'www.a.example', path: '/', httpOnly: true, secure: true },
    ...more,
  });
  const later = Math.floor(Date.now() / 1000) + 3600;
  const state = {
    origins: [],
    cookies: [
      cookie('own', { expires: later + 0.5, sameSite: 'Lax', priority: 'Medium' }),
      cookie('all', { domain: '.a.example' }),
      cookie('parent', { domain: 'a.example' }),
      cookie('deep', { path: '/deep' }),
      cookie('foreign', { domain: '.b.example' }),
      cookie('old', { expires: 1 }),
      cookie('part', { partitionKey: { topLevelSite: 'https://c.example', hasCrossSiteAncestor: true } }),
    ],
  };
  const URL = 'https://www.a.example/account';

  it('are those a browser would send', () => {
    expect(cookiesFor(state, URL).header.split('; ').sort()).toEqual(['all=v', 'own=v']);
    expect(cookiesFor(state, URL.replace('https:', 'http:')).header).toBe('');
    expect(cookiesFor(state, 'https://www.a.example/deep/er').header).toContain('deep=v');
  });

  it('are unchanged if the response sets none', () => {
    expect(cookiesFor(state, URL).after([])).toBe(state);
    expect(cookiesFor(state, URL).after(['all=v; Domain=a.example; Path=/; Secure; HttpOnly'])).toBe(state);
  });

  it('are updated, added and removed as the response says', () => {
    const after = cookiesFor(state, URL).after([
      'own=w; Path=/; Max-Age=60; Secure; SameSite=Strict',
      'fresh=1',
      'all=; Domain=a.example; Path=/; Max-Age=0',
      'evil=1; Domain=b.example',
    ]);
    const names = after.cookies.map(({ name }) => name).sort();
    expect(names).toEqual(['deep', 'foreign', 'fresh', 'old', 'own', 'parent', 'part']);
    const own = after.cookies.find(({ name }) => name === 'own');
    expect(own).toMatchObject({ value: 'w', domain: 'www.a.example', sameSite: 'Strict', httpOnly: false });
    expect(own?.expires).toBeLessThan(later);
    expect(after.cookies.find(({ name }) => name === 'fresh')?.expires).toBeUndefined();
    for (const same of ['deep', 'foreign', 'part', 'parent'])
      expect(after.cookies).toContain(state.cookies.find(({ name }) => name === same));
  });
});
