import { describe, expect, it } from 'vitest';
import type { CredentialFacts } from '../../contract/activities.ts';
import { matchKeys, nameFields, rememberFields, type NamedField } from '../../workflows/policy/field-refs.ts';
import { field } from './scripted-world.ts';

const CUSTOMER = field('identifier', 'kdnr', { label: 'Customer number' });
const USER = field('identifier', 'uid', { label: 'User ID' });
const PASSWORD = field('password', 'pw', { label: 'Password' });
const PIN = field('password', 'pin', { label: 'PIN' });

function facts(...valueKeys: string[]): CredentialFacts {
  return { id: 'cred_1', version: 1, valueKeys, hasTotpSecret: false, ssoProvider: null };
}

const refsOf = (named: NamedField[]): string[] => named.map(({ ref }) => ref);
const remembered = (named: NamedField[], step = 1) => named.map(({ field: seen, ref }) => ({ ...seen, ref, step }));

describe('the ref of a field', () => {
  it('is the default one if no other field has it', () => {
    expect(refsOf(nameFields([CUSTOMER, PASSWORD]))).toEqual(['username', 'password']);
    expect(refsOf(nameFields([field('identifier', 'e', { discovered_type: 'email' }), USER]))).toEqual([
      'email',
      'username',
    ]);
  });

  it('is unique if two fields would share it, in any order of the fields', () => {
    expect(refsOf(nameFields([CUSTOMER, USER, PASSWORD]))).toEqual(['customer_number', 'user_id', 'password']);
    expect(refsOf(nameFields([USER, PASSWORD, CUSTOMER]))).toEqual(['user_id', 'password', 'customer_number']);
    expect(refsOf(nameFields([PASSWORD, PIN]))).toEqual(['password', 'pin']);
  });

  it('is made of what distinguishes fields with the same label, even if only their position', () => {
    const [first, second] = [{ label: 'Number' }, { label: 'Number' }];
    expect(refsOf(nameFields([field('identifier', 'branch', first), field('identifier', 'account', second)]))).toEqual([
      'branch',
      'account',
    ]);
    expect(refsOf(nameFields([field('identifier', '1', first), field('identifier', '2', second)]))).toEqual([
      'username',
      'username_2',
    ]);
    expect(refsOf(nameFields([field('identifier', 'a', { label: '顧客番号' }), USER]))).toEqual([
      '顧客番号',
      'user_id',
    ]);
  });

  it('stays the same across logins, whatever is added to the page or renamed', () => {
    const earlier = remembered(nameFields([CUSTOMER, PASSWORD]));
    expect(refsOf(nameFields([USER, CUSTOMER, PASSWORD], { now: [], earlier }))).toEqual([
      'user_id',
      'username',
      'password',
    ]);
    const renamed = { ...CUSTOMER, name: 'x7' };
    const translated = { ...CUSTOMER, label: 'Kundennummer' };
    expect(refsOf(nameFields([renamed, USER], { now: [], earlier }))).toEqual(['username', 'user_id']);
    expect(refsOf(nameFields([USER, translated], { now: [], earlier }))).toEqual(['user_id', 'username']);
    const anotherForm = field('identifier', 'login', { label: 'Login' });
    expect(refsOf(nameFields([anotherForm], { now: [], earlier }))).toEqual(['username']);
  });

  it('differs from that of a field on an earlier page of the login', () => {
    const now = remembered(nameFields([CUSTOMER]));
    expect(refsOf(nameFields([USER, PASSWORD], { now, earlier: [] }))).toEqual(['user_id', 'password']);
    expect(refsOf(nameFields([CUSTOMER, PASSWORD], { now, earlier: [] }))).toEqual(['username', 'password']);
  });

  it('differs for the characters of a secret, wherever the page asks for them', () => {
    const characters = (...places: number[]) =>
      places.map((place, at) => field('password', `char${at}`, { label: `Character ${place}` }));
    const first = nameFields(characters(2, 5, 7));
    expect(refsOf(first)).toEqual(['character_2', 'character_5', 'character_7']);
    const next = nameFields(characters(1, 2, 5), { now: [], earlier: remembered(first) });
    expect(refsOf(next)).toEqual(['character_1', 'character_2', 'character_5']);
    expect(matchKeys(next, facts('password', ...refsOf(first)))).toEqual([null, 'character_2', 'character_5']);
  });

  it('is remembered for fields that a login did not show', () => {
    const [customer, user] = remembered(nameFields([CUSTOMER, USER]));
    if (customer === undefined || user === undefined) throw new Error('nothing was named');
    expect(rememberFields([customer, user], [{ ...user, hint: 'new' }]).map(({ ref, hint }) => [ref, hint])).toEqual([
      ['customer_number', null],
      ['user_id', 'new'],
    ]);
  });
});

describe('the fields of a page that a credential answers', () => {
  const match = (fields: (typeof USER)[], ...keys: string[]) => matchKeys(nameFields(fields), facts(...keys));

  it('are matched by ref, then by name', () => {
    expect(match([CUSTOMER, USER, PASSWORD], 'user_id', 'password', 'customer_number')).toEqual([
      'customer_number',
      'user_id',
      'password',
    ]);
    expect(match([CUSTOMER, USER], 'kdnr', 'uid')).toEqual(['kdnr', 'uid']);
  });

  it('never share a key: an ambiguous one is asked for', () => {
    expect(match([CUSTOMER, USER, PASSWORD], 'username', 'password')).toEqual([null, null, 'password']);
    expect(match([PASSWORD, PIN], 'password')).toEqual(['password', null]);
  });

  it('include the only remaining identifier, by its common key names', () => {
    expect(match([CUSTOMER, USER, PASSWORD], 'username', 'customer_number')).toEqual([
      'customer_number',
      'username',
      null,
    ]);
    expect(match([field('identifier', 'login')], 'email')).toEqual(['email']);
    expect(match([PIN], 'password')).toEqual(['password']);
  });

  it('never include a code', () => {
    expect(match([field('code', 'code')], 'code')).toEqual([null]);
  });
});
