import { expect, it } from 'vitest';
import { isCaptchaError } from '../../reader/signs/website-error.ts';

it.each([
  'Please confirm that you are not a robot.',
  'Captcha is required to log in.',
  'reCAPTCHA verification failed, please try again.',
  'The security check has expired. Tick the box again.',
  'Bitte bestätigen Sie, dass Sie kein Roboter sind.',
  'Confirmez que vous n’êtes pas un robot.',
  '请完成人机验证',
])('an error is about a captcha alone: %s', (error) => {
  expect(isCaptchaError(error)).toBe(true);
});

it.each([
  'Incorrect username or password.',
  'Wrong password. Please solve the captcha below.',
  'E-Mail oder Captcha falsch.',
  'Your session has expired.',
  'Something went wrong.',
])('an error may be about what was typed: %s', (error) => {
  expect(isCaptchaError(error)).toBe(false);
});
