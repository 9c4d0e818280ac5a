import type { ManagedAuthChoice, ManagedAuthField } from '../../contract/interaction.ts';
import type { Change } from './scripted-flow.ts';

let count = 0;

/** A pause with a new interaction id. */
export function pause(fields: ManagedAuthField[], choices: ManagedAuthChoice[] = [], more: Change = {}): Change {
  count += 1;
  return { flow_step: 'AWAITING_INPUT', interaction_id: `int${count}`, fields, choices, ...more };
}

export const username: ManagedAuthField = {
  id: 'f-user',
  ref: 'username',
  type: 'identifier',
  reason: 'missing',
  label: 'Email or username',
};
export const password: ManagedAuthField = {
  id: 'f-pass',
  ref: 'password',
  type: 'password',
  reason: 'missing',
  label: 'Password',
};
export const smsCode: ManagedAuthField = {
  id: 'f-code',
  ref: 'sms_code',
  type: 'code',
  reason: 'missing',
  label: 'Verification code',
  hint: 'We sent a 6-digit code to •••• 42',
};
export const totpCode: ManagedAuthField = {
  id: 'f-totp',
  ref: 'totp',
  type: 'totp_code',
  reason: 'missing',
  label: 'Authentication code',
};

export const google: ManagedAuthChoice = { id: 'c-google', type: 'sso_provider', label: 'Google' };
export const microsoft: ManagedAuthChoice = { id: 'c-ms', type: 'sso_provider', label: 'Sign in with Microsoft' };

export const mfaChoices: ManagedAuthChoice[] = [
  { id: 'm-sms', type: 'mfa_method', label: 'Text message', mfa_type: 'sms', masked_destination: '•••• •••• 42' },
  { id: 'm-call', type: 'mfa_method', label: 'Phone call', mfa_type: 'call', masked_destination: '•••• •••• 42' },
  { id: 'm-mail', type: 'mfa_method', label: 'Email', mfa_type: 'email', masked_destination: 'a•••@example.com' },
  {
    id: 'm-totp',
    type: 'mfa_method',
    label: 'Authenticator app',
    mfa_type: 'totp',
    description: 'Use the code your app shows',
  },
  { id: 'm-push', type: 'mfa_method', label: 'Approve on your phone', mfa_type: 'push' },
];

export const accounts: ManagedAuthChoice[] = [
  { id: 'a-1', type: 'account', label: 'Ada Lovelace', description: 'ada@example.com' },
  {
    id: 'a-2',
    type: 'account',
    label: 'Analytical Engines Ltd.',
    description: 'billing@engines.example',
    context: 'Organization',
  },
];
