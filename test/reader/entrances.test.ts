import { expect, it } from 'vitest';
import { drawPage } from './drawn-facts.ts';
import { readSignInLink } from '../../reader/signs/sign-in-links.ts';

const leadsIn = (text: string) => readSignInLink(drawPage([{ fields: ['street', 'city'], button: text }])) !== null;

it.each([
  'Log in',
  'Already a customer? Log in',
  'Already have an account? Log in to your account',
  'Bereits Kunde? Jetzt anmelden',
  'Déjà client ? Se connecter',
  '¿Ya tienes una cuenta? Inicia sesión',
])('presses a button that calls those in who have an account: %s', (text) => {
  expect(leadsIn(text)).toBe(true);
});

it.each(['Continue as guest', 'Already a customer?', 'We already have your login details on file'])(
  'does not press: %s',
  (text) => {
    expect(leadsIn(text)).toBe(false);
  },
);
