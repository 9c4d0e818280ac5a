import { expect, it } from 'vitest';
import { drawPage } from './drawn-facts.ts';
import { analyzePage, summarizeReasons } from '../../reader/analyze-page.ts';

const SIGN_UP = {
  heading: 'Hello bob@harbour.test, 0171 2345678',
  fields: ['email', '*password'],
  button: 'Create account',
};

it('summarizes the kind of the page and why its forms are rejected, without personal data', () => {
  const evidence = summarizeReasons(analyzePage('https://harbour.test/', drawPage([SIGN_UP])).reasons);
  expect(evidence).toContain('other: asks for no credentials');
  expect(evidence).toContain('not a login: the only button signs up');
  const greeted = summarizeReasons([{ what: 'login', why: `heading "${SIGN_UP.heading}"`, frame: [], taken: true }]);
  expect(greeted).not.toMatch(/bob|2345/);
});

it('has a maximum length', () => {
  const pages = Array.from({ length: 30 }, (_, at) => ({ ...SIGN_UP, heading: `Join us ${'very '.repeat(at)}` }));
  const { reasons } = analyzePage('https://harbour.test/', drawPage(pages));
  expect(summarizeReasons(reasons).length).toBeLessThanOrEqual(600);
});
