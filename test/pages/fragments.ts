import type { Shape } from './logins.ts';
import { documentOf, type Draft, type Truth } from './page.ts';
import { loginForm, signUpForm } from './parts.ts';

/** A form alone, without the page it was taken from: no title, no heading, no telling address. */

function fragment(words: { code: string; rtl?: boolean | undefined }, body: string, truth: Truth): Draft {
  return { path: '/', truth, html: documentOf({ title: '', body, language: words.code, rtl: words.rtl }) };
}

const login: Shape = (words, skin, draw) =>
  fragment(words, loginForm(skin, words, draw), { fields: ['identifier', 'password'] });
const signUp: Shape = (words, skin, draw) =>
  fragment(words, signUpForm(words, draw, skin, draw.chance(0.6)), { fields: [] });
const news: Shape = (words, skin) =>
  fragment(
    words,
    `<form action="/n">${skin.field({ label: words.email, name: 'email', type: 'email' })}${skin.button(words.subscribe)}</form>`,
    { fields: [] },
  );
const search: Shape = (words) =>
  fragment(
    words,
    `<form action="/s"><input name="q" placeholder="${words.search}"><button>${words.search}</button></form>`,
    {
      fields: [],
    },
  );
const change: Shape = (words, skin) =>
  fragment(
    words,
    `<form>${skin.field({ label: words.newPassword, name: 'p1', type: 'password' })}${skin.field({ label: words.repeatPassword, name: 'p2', type: 'password' })}${skin.button(words.save)}</form>`,
    { fields: [] },
  );
const code: Shape = (words, skin) =>
  fragment(
    words,
    `<form>${skin.field({ label: words.oneTimeCode, name: 'c', truth: 'any' })}${skin.button(words.next, { truth: 'submit' })}</form>`,
    { fields: ['any'] },
  );
const nameFirst: Shape = (words, skin) =>
  fragment(
    words,
    `<form>${skin.field({ label: words.email, name: 'u', truth: 'identifier' })}${skin.button(words.signIn, { truth: 'submit' })}</form>`,
    { fields: ['identifier'] },
  );

/** Shapes of form fragments. */
export const FRAGMENTS: Readonly<Record<string, Shape>> = { login, signUp, news, search, change, code, nameFirst };
