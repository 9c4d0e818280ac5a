import { chromium } from 'playwright-core';
import { corpus, isHeldOut } from '../test/pages/corpus.ts';
import { writtenPages } from '../test/pages/written.ts';
import { measure, type Verdict } from '../test/pages/measure.ts';
import type { PageClass } from '../test/pages/page.ts';
import { median, type Figure } from './figure.ts';

/** Targets: the share of pages of a class whose fields are exactly right. */
const AIMS: Readonly<Record<PageClass, number>> = {
  'one password': 0.99,
  'none or several passwords': 0.87,
  fragment: 0.96,
  silent: 0.95,
  state: 0.95,
};

/** Reads the generated and the hand-written pages; reports seen and held-out pages separately. Misses go to standard error. */
export async function measureReader(executablePath: string): Promise<Figure[]> {
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
  try {
    const drawn = await measure(browser, corpus());
    const written = await measure(browser, writtenPages());
    const verdicts = [...drawn, ...written];
    // Held-out misses stay unnamed, so that nobody fits rules to them.
    const misses = verdicts.filter((verdict) => !isRight(verdict) && !isHeldOut(verdict.page));
    for (const { page, found } of misses) process.stderr.write(`${page.name}: ${found}\n`);
    return [...figuresOf('Drawn', drawn), ...figuresOf('Written', written), ...confusion(verdicts), ...times(verdicts)];
  } finally {
    await browser.close();
  }
}

function isRight(verdict: Verdict): boolean {
  return verdict.kindRight && verdict.fieldsRight && verdict.submitRight && verdict.providersRight;
}

function figuresOf(pages: string, verdicts: readonly Verdict[]): Figure[] {
  const seen = verdicts.filter(({ page }) => !isHeldOut(page));
  const heldOut = verdicts.filter(({ page }) => isHeldOut(page));
  const row = (name: string, of: (verdict: Verdict) => boolean | undefined, aim: number): Figure => ({
    name: `${pages}: ${name}`,
    value: `${share(seen, of)} seen, ${share(heldOut, of)} held out`,
    aim: `${Math.round(aim * 100)} %`,
  });
  const isLogin = ({ page }: Verdict): boolean => page.group === 'one password' || page.group.startsWith('none');
  const within = (group: PageClass) => (verdict: Verdict) =>
    verdict.page.group === group
      ? group === 'state'
        ? verdict.kindRight && verdict.fieldsRight
        : verdict.fieldsRight
      : undefined;
  const groups = Object.entries(AIMS).filter(([group]) => verdicts.some(({ page }) => page.group === group));
  const offers = ({ page }: Verdict): boolean => (page.truth.providers ?? []).length > 0;
  return [
    row('Whole login pages, fields exact', (each) => (isLogin(each) ? each.fieldsRight : undefined), 0.97),
    row('Whole login pages, fields and submit exact', (each) => (isLogin(each) ? each.submitRight : undefined), 0.94),
    ...groups.map(([group, aim]) => row(`Class "${group}"`, within(group as PageClass), aim)),
    row('Provider buttons, the set exact', (each) => (offers(each) ? each.providersRight : undefined), 0.97),
    row(
      'Pages without provider buttons that show one',
      (each) => (offers(each) ? undefined : each.falseProviders),
      0.01,
    ),
  ];
}

/** Share of verdicts for which `of` is true; verdicts for which it is undefined are left out. */
function share(verdicts: readonly Verdict[], of: (verdict: Verdict) => boolean | undefined): string {
  const answers = verdicts.map(of).filter((answer) => answer !== undefined);
  const yes = answers.filter(Boolean).length;
  return `${((100 * yes) / answers.length).toFixed(1)} % (${yes} of ${answers.length})`;
}

/** What the pages of each class were read as. */
function confusion(verdicts: readonly Verdict[]): Figure[] {
  return Object.keys(AIMS).map((group) => {
    const counts = new Map<string, number>();
    for (const { page, reading } of verdicts) {
      if (page.group === group) counts.set(reading.kind, (counts.get(reading.kind) ?? 0) + 1);
    }
    const sorted = [...counts].sort(([, a], [, b]) => b - a);
    return { name: `"${group}" read as`, value: sorted.map(([kind, count]) => `${kind} ${count}`).join(', ') };
  });
}

function times(verdicts: readonly Verdict[]): Figure[] {
  const sorted = verdicts.map(({ ms }) => ms).sort((a, b) => a - b);
  const late = sorted[Math.floor(sorted.length * 0.95)] ?? Number.NaN;
  const text = (ms: number): string => `${(ms / 1000).toFixed(2)} s`;
  return [
    {
      name: 'Time to read a page, middle and 95 %',
      value: `${text(median(sorted))}, ${text(late)}`,
      aim: '0.4 s, 1.0 s',
    },
  ];
}
