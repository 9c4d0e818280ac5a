import { expect, it } from 'vitest';
import { codeChannel } from '../../reader/choices/mfa-methods.ts';

it.each([
  ['Code we texted you', null, 'sms'],
  ['Verification code', 'We sent a text message to •••• 15.', 'sms'],
  ['Verification code', 'Sent to g…@example.com', 'email'],
  ['Code', 'We called you; type the digits that you heard in the call.', 'call'],
  ['Code', 'We sent a code by SMS and by e-mail.', 'unknown'],
  ['Code', 'Sent to •••• 15', 'unknown'],
  ['Code', null, 'unknown'],
])('%s / %s comes by %s', (label, hint, channel) => {
  expect(codeChannel('code', label, hint)).toBe(channel);
});

it('reports totp for an authenticator field, and no channel for other fields', () => {
  expect(codeChannel('totp_code', 'Code', null)).toBe('totp');
  expect(codeChannel('password', 'Password', null)).toBeNull();
});
