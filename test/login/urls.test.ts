import { expect, it } from 'vitest';
import { sanitizeUrl } from '../../activities/login/urls.ts';

it.each([
  ['https://u:p@site.example/a?route=account#token=abc', 'https://site.example/a?route=account'],
  ['https://site.example/cb?code=4/0AX&state=xyz&page=2', 'https://site.example/cb?page=2'],
  [`https://site.example/?x=${'a'.repeat(33)}&y=1`, 'https://site.example/?y=1'],
  ['https://site.example/?PHPSESSID=1&lang=de', 'https://site.example/?lang=de'],
  ['no address', 'about:blank'],
])('sanitizes %s to %s', (address, shown) => {
  expect(sanitizeUrl(address)).toBe(shown);
});

it('removes query values that contain typed text, whatever their name', () => {
  const address = 'https://site.example/in?user=ann&pwd=hunter22';
  expect(sanitizeUrl(address, new Set(['hunter22']))).toBe('https://site.example/in?user=ann');
});
