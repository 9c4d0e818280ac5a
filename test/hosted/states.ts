import { accounts, google, mfaChoices, microsoft, password, pause, smsCode, totpCode, username } from './pauses.ts';
import type { Change } from './scripted-flow.ts';

/** Every state that a person can meet while a flow lives or ends, by name. */
export const STATES: Record<string, () => Change> = {
  discovering: () => ({ flow_step: 'DISCOVERING' }),
  'sign-in': () => pause([username, password]),
  'sign-in-and-sso': () => pause([username, password], [google, microsoft]),
  identifier: () => pause([{ ...username, label: 'Email address' }]),
  'password-rejected': () =>
    pause([{ ...password, reason: 'rejected' }], [], {
      website_error: 'The password you entered is not correct. Try again or reset it.',
    }),
  'both-rejected': () =>
    pause(
      [
        { ...username, reason: 'rejected' },
        { ...password, reason: 'rejected' },
      ],
      [],
      { website_error: 'We do not recognise that combination of username and password.' },
    ),
  'sms-code': () => pause([smsCode]),
  'totp-code': () =>
    pause([totpCode], [{ id: 'm-sw', type: 'mfa_method', label: 'Try another way', mfa_type: 'switch' }]),
  'totp-secret': () =>
    pause([{ id: 'f-s', ref: 'totp_secret', type: 'totp_secret', reason: 'missing', required: false }]),
  mfa: () => pause([], mfaChoices),
  accounts: () => pause([], accounts),
  external: () => ({
    flow_step: 'AWAITING_EXTERNAL_ACTION',
    external_action_message: 'Open the Example app on your phone and tap 42 to confirm that it is you.',
  }),
  'external-with-fallback': () =>
    pause(
      [],
      [
        {
          id: 'm-sms2',
          type: 'mfa_method',
          label: 'Send a text message',
          mfa_type: 'sms',
          masked_destination: '•••• 42',
        },
      ],
      {
        flow_step: 'AWAITING_EXTERNAL_ACTION',
        external_action_message: 'Check your phone and approve the sign-in.',
      },
    ),
  submitting: () => ({ flow_step: 'SUBMITTING' }),
  success: () => ({ flow_status: 'SUCCESS', flow_step: 'COMPLETED' }),
  failed: () => ({
    flow_status: 'FAILED',
    flow_step: 'COMPLETED',
    error_code: 'credentials_invalid',
    error_message: 'credentials refused',
    website_error: 'Your account has been locked after too many attempts. Contact support.',
  }),
  expired: () => ({ flow_status: 'EXPIRED' }),
  cancelled: () => ({ flow_status: 'CANCELED' }),
  'long-words': () => ({
    ...pause(
      [
        {
          ...username,
          label: 'Benutzerkennung-oder-Kundennummer-ohne-Leerzeichen-und-sehr-lang',
          hint: 'x'.repeat(120),
        },
        { ...password, label: '<img src=x onerror=alert(1)>' },
      ],
      [{ id: 'c1', type: 'other', label: '<script>alert(1)</script> '.repeat(4), description: 'مرحبا بالعالم' }],
      { website_error: '<b>Bold?</b> & "quoted" \u202eright-to-left' },
    ),
    domain: 'login.department-of-administrative-affairs.some-very-long-company-name.example.co.uk:8443',
  }),
};
