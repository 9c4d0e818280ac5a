import { expect, it } from 'vitest';
import { patienceFor } from '../../activities/login/reading/read-page.ts';
import { drawPage } from './drawn-facts.ts';
import { analyzePage } from '../../reader/analyze-page.ts';

function patienceOf(buttons: string[], busy = false): number {
  const [page] = drawPage(buttons.map((button) => ({ fields: [], button, region: 'header' })));
  if (page === undefined) throw new Error('a page was drawn');
  const frames = [{ ...page, facts: { ...page.facts, busy } }];
  return patienceFor(analyzePage('https://harbour.test/', frames), frames);
}

it('waits less for a sparse page with signed-in hints than for one without', () => {
  expect(patienceOf(['Open user menu'])).toBeLessThan(patienceOf(['Boats']) / 4);
});

it('waits the full time for a page that is loading or offers a sign-in link', () => {
  expect(patienceOf(['Open user menu'], true)).toBe(patienceOf(['Boats']));
  expect(patienceOf(['Open user menu', 'Sign in'])).toBe(patienceOf(['Boats']));
});
