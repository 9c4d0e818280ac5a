import { expect, it } from 'vitest';
import type { FormChoice, PageReading } from '../../contract/reading.ts';
import { drawPage } from './drawn-facts.ts';
import { analyzePage } from '../../reader/analyze-page.ts';

const PARTNERS = { heading: 'Partners', fields: ['partner', '*partner_secret'], button: 'Sign in' };
const MEMBERS = { heading: 'Members', fields: ['member', '*member_secret'], button: 'Sign in' };
const SIGN_UP = { heading: 'New here?', fields: ['email', '*new_password'], button: 'Create account' };
const CARD = { heading: 'Pay', fields: ['card_number', 'cvc'], button: 'Pay now' };

function read(forms: Parameters<typeof drawPage>[0], chosen?: FormChoice): PageReading {
  return analyzePage('https://harbour.test/', drawPage(forms), chosen).reading;
}

const firstField = ({ fields }: PageReading): string | undefined => fields[0]?.name;

it('goes through login forms in order, then rejected ones, and starts over after the last', () => {
  const page = [PARTNERS, MEMBERS, SIGN_UP, CARD];
  const seen: (string | undefined)[] = [];
  const passedOver: string[] = [];
  for (let press = 0; press <= 3; press += 1) {
    const reading = read(page, { taken: null, passedOver });
    seen.push(firstField(reading));
    passedOver.push(...(reading.forms?.slice(0, 1) ?? []));
  }
  expect(seen).toEqual(['partner', 'member', 'email', 'partner']);
});

it('recognizes a form that has moved, has other numbers in its names, or contains a greeting', () => {
  const [, members = ''] = read([PARTNERS, MEMBERS]).forms ?? [];
  const chosen = { taken: members, passedOver: [] };
  expect(firstField(read([SIGN_UP, MEMBERS, PARTNERS], chosen))).toBe('member');
  const numbered = (visit: number) => ({
    ...MEMBERS,
    heading: `Members ${visit}@harbour.test`,
    fields: [`m${visit}`, '*p'],
  });
  const [earlier = ''] = read([numbered(17)]).forms ?? [];
  expect(firstField(read([PARTNERS, numbered(4)], { taken: earlier, passedOver: [] }))).toBe('m4');
});

it('distinguishes forms with the same text, and falls back to its own choice if the chosen form is gone', () => {
  const { forms = [] } = read([PARTNERS, PARTNERS]);
  expect(new Set(forms).size).toBe(2);
  expect(firstField(read([PARTNERS, MEMBERS], { taken: 'gone', passedOver: [] }))).toBe('partner');
});

it('rejects a form that is no login unless a login was passed over', () => {
  expect(read([SIGN_UP, CARD])).toMatchObject({ kind: 'other', fields: [] });
  expect(read([SIGN_UP], { taken: null, passedOver: ['a form of another page'] })).toMatchObject({ kind: 'other' });
});

it('does not require prefilled fields next to the login, but requires the login itself', () => {
  const fields = ['server', 'username', '*password'];
  const required = (filled: string[]) =>
    read([{ fields, filled, button: 'Log in' }]).fields.map((each) => each.required);
  expect(required([])).toEqual([true, true, true]);
  expect(required(['server', 'username'])).toEqual([false, true, true]);
});
