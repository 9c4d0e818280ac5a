import { expect, it } from 'vitest';
import { corpus, isHeldOut } from '../pages/corpus.ts';
import { writtenPages } from '../pages/written.ts';
import { measure, type Verdict } from '../pages/measure.ts';
import { closeViewer, openViewer } from '../setup/viewer.ts';

/** One page in so many is read here; `npm run bench -- reader` reads them all. */
const ONE_IN = 16;
const ONE_WRITTEN_IN = 6;
/** Only a hang takes as long, in milliseconds: a busy machine needs a few seconds a page. */
const HANGS_AFTER_MS = 600_000;

it(
  'reads pages of every shape of the corpus as expected',
  async () => {
    const browser = await openViewer();
    try {
      const drawn = corpus().filter((_, at) => at % ONE_IN === 3);
      const written = writtenPages().filter((_, at) => at % ONE_WRITTEN_IN === 1);
      const pages = [...drawn, ...written].filter((page) => !isHeldOut(page));
      const verdicts = await measure(browser, pages);
      expect(verdicts).toHaveLength(pages.length);
      expect(
        verdicts.filter((verdict) => !isRight(verdict)).map(({ page, found }) => `${page.name}: ${found}`),
      ).toEqual([]);
    } finally {
      await closeViewer(browser);
    }
  },
  HANGS_AFTER_MS,
);

function isRight(verdict: Verdict): boolean {
  return verdict.kindRight && verdict.fieldsRight && verdict.submitRight && verdict.providersRight;
}
