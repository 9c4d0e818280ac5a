import { expect, it } from 'vitest';
import type { PageReading, ReadField } from '../../contract/reading.ts';
import { secretSpellings } from '../../activities/login/entering/typed-secrets.ts';
import { redactSecrets } from '../../reader/redact.ts';

const PASSWORD_FIELD: ReadField = {
  name: 'password',
  label: 'Password',
  selector: '#password',
  placeholder: null,
  hint: null,
  required: true,
  type: 'password',
  discovered_type: 'text',
  frame: [],
  boxes: 1,
};

function reading(more: Partial<PageReading>): PageReading {
  return {
    url: 'https://site.example/login',
    kind: 'form',
    title: '',
    fields: [],
    submit: null,
    choices: [],
    website_error: null,
    external_action_message: null,
    sign_in_link: null,
    ...more,
  };
}

it('removes evidence and forms that quote a typed password, also truncated or in lower case', () => {
  const { evidence, forms } = redactSecrets(
    reading({
      evidence: 'heading "your pass hunter2-is-wr',
      forms: ['identifier user | | hunter2-is', 'identifier user'],
    }),
    secretSpellings(['Hunter2-is-wrong-here']),
  );
  expect(`${String(evidence)} ${String(forms)}`).not.toContain('hunt');
  expect(forms).toEqual(['identifier user']);
});

it('redacts typed passwords and codes that a site repeats', () => {
  const password = 'q"u & ä';
  const seen = redactSecrets(
    reading({
      url: `https://site.example/login?a=${encodeURIComponent(password)}&b=${new URLSearchParams({ p: password }).toString().slice(2)}`,
      title: `Hello ${password}`,
      website_error: `ann, the password ${password} is wrong, and so is 123456.`,
      fields: [{ ...PASSWORD_FIELD, hint: `not ${password}`, placeholder: password }],
    }),
    secretSpellings([password, '123456']),
  );
  expect(seen).toMatchObject({
    url: 'https://site.example/login?a=•••&b=•••',
    title: 'Hello •••',
    website_error: 'ann, the password ••• is wrong, and so is •••.',
    fields: [{ hint: 'not •••', placeholder: '•••' }],
  });
});

it('does not redact values that are too short', () => {
  const seen = reading({ website_error: 'Wrong PIN 12 of 123' });
  expect(redactSecrets(seen, secretSpellings(['12']))).toEqual(seen);
});

it('accepts a value with a lone surrogate', () => {
  const odd = 'secret\ud800!';
  expect(redactSecrets(reading({ title: `no ${odd}` }), secretSpellings([odd])).title).toBe('no •••');
});
