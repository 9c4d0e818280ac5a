import { describe, expect, it } from 'vitest';
import { checkUserUrl } from '../../egress/guard.ts';
import { createEgressPolicy } from '../../egress/policy.ts';

const policy = createEgressPolicy('localhost:3000');

describe('checkUserUrl', () => {
  it.each([
    'ftp://example.com/',
    'file:///etc/passwd',
    'javascript:alert(1)',
    'data:text/html,x',
    'chrome://version',
    'example.com',
    'https://user:secret@example.com/',
    'https://user@example.com/',
    'http://127.0.0.1/',
    'http://0x7f.1/',
    'http://[::1]/',
    'http://2130706433/',
    'http://①②⑦.0.0.1/',
  ])('refuses %s', (text) => {
    expect(() => checkUserUrl(text, { policy, field: 'start_url' })).toThrow(/^start_url: /);
  });

  it('never quotes the URL in a message', () => {
    try {
      checkUserUrl('https://user:s3cret@example.com/', { policy, field: 'f' });
      expect.unreachable();
    } catch (error) {
      expect(String(error)).not.toContain('s3cret');
    }
  });

  it('allows http only for listed hosts when https is required', () => {
    expect(checkUserUrl('http://localhost:3000/a', { policy, field: 'f', httpsOnly: true }).pathname).toBe('/a');
    expect(() => checkUserUrl('http://example.com/', { policy, field: 'f', httpsOnly: true })).toThrow(/https/);
    expect(checkUserUrl('https://EXAMPLE.com', { policy, field: 'f' }).href).toBe('https://example.com/');
  });
});
