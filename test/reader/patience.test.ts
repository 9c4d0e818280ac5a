import { expect, it } from 'vitest';
import { patienceFor } from '../../activities/login/reading/read-page.ts';
import { understandWithReasons } from '../../reader/understand.ts';
import { drawPage } from './drawn-facts.ts';

function patienceOf(buttons: string[], busy = false): number {
  const [page] = drawPage(buttons.map((button) => ({ fields: [], button, region: 'header' })));
  if (page === undefined) throw new Error('a page was drawn');
  const frames = [{ ...page, facts: { ...page.facts, busy } }];
  return patienceFor(understandWithReasons('https://harbour.test/', frames), frames);
}

it('believes a sparse page that shows a visitor of its own sooner than one that shows nothing', () => {
  expect(patienceOf(['Open user menu'])).toBeLessThan(patienceOf(['Boats']) / 4);
});

it('gives a page that is still loading, or offers a way in, all its time', () => {
  expect(patienceOf(['Open user menu'], true)).toBe(patienceOf(['Boats']));
  expect(patienceOf(['Open user menu', 'Sign in'])).toBe(patienceOf(['Boats']));
});
