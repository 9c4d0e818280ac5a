import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { acceptReturnUrl, withParams } from '../../api/hosted/return-url.ts';

describe('acceptReturnUrl', () => {
  test.each([
    'javascript:alert(1)',
    'JaVaScRiPt:alert(1)',
    ' javascript:alert(1)',
    'java\nscript:alert(1)',
    'data:text/html,<script>alert(1)</script>',
    'vbscript:x',
    'blob:https://app.example.com/1',
    'file:///etc/passwd',
    'intent://scan/#Intent;scheme=zxing;end',
    'myapp://done',
    '//evil.example',
    '/relative',
    'https:evil.example',
    'https://user:pass@app.example.com/',
    'https://user@app.example.com/',
    'https://',
    'http://[::1',
    '',
    `https://app.example.com/${'a'.repeat(2100)}`,
  ])('refuses %j', (value) => {
    expect(acceptReturnUrl(value)).toBeNull();
  });

  test.each([
    ['https://app.example.com', 'https://app.example.com/'],
    ['HTTP://localhost:3000/done?a=b#c', 'http://localhost:3000/done?a=b#c'],
  ])('takes %j', (value, href) => {
    expect(acceptReturnUrl(value)).toBe(href);
  });

  test('accepts only http and https URLs', () => {
    fc.assert(
      fc.property(fc.oneof(fc.webUrl({ withQueryParameters: true, withFragments: true }), fc.string()), (value) => {
        const accepted = acceptReturnUrl(value);
        return accepted === null || /^https?:\/\//.test(accepted);
      }),
    );
  });
});

describe('withParams', () => {
  test("keeps the query's encoding and the fragment", () => {
    expect(withParams('https://a.example/x?q=a%20b&empty&list=1&list=2#part', { domain: 'd' })).toBe(
      'https://a.example/x?q=a%20b&empty&list=1&list=2&domain=d#part',
    );
  });

  test('replaces parameters of ours that are already there', () => {
    expect(withParams('https://a.example/?code=x&%63ode=y&keep=1', { code: 'flow_expired' })).toBe(
      'https://a.example/?keep=1&code=flow_expired',
    );
  });

  test('preserves any value', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (value) => {
        const url = new URL(withParams('https://a.example/?x=1#f', { message: value }));
        return url.searchParams.get('message') === value && url.searchParams.get('x') === '1' && url.hash === '#f';
      }),
    );
  });
});
