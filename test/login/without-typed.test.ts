import { expect, it } from 'vitest';
import type { PageReading, ReadField } from '../../contract/reading.ts';
import { secretSpellings } from '../../activities/login/entering/typed-secrets.ts';
import { withoutSecrets } from '../../reader/without-secrets.ts';

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

it('leaves out evidence and forms that quote a typed password, cut short and in small letters too', () => {
  const { evidence, forms } = withoutSecrets(
    reading({
      evidence: 'heading "your pass hunter2-is-wr',
      forms: ['identifier user | | hunter2-is', 'identifier user'],
    }),
    secretSpellings(['Hunter2-is-wrong-here']),
  );
  expect(`${String(evidence)} ${String(forms)}`).not.toContain('hunt');
  expect(forms).toEqual(['identifier user']);
});

it('leaves nothing of a typed password or code in what a site repeats', () => {
  const password = 'q"u & ä';
  const seen = withoutSecrets(
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

it('leaves words alone that a value is too short to be told from', () => {
  const seen = reading({ website_error: 'Wrong PIN 12 of 123' });
  expect(withoutSecrets(seen, secretSpellings(['12']))).toEqual(seen);
});

it('takes a value that is half a character', () => {
  const odd = 'secret\ud800!';
  expect(withoutSecrets(reading({ title: `no ${odd}` }), secretSpellings([odd])).title).toBe('no •••');
});
