import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

/**
 * What axe-core finds wrong with a page once all of it has come and what moves has come to rest, by rule and place: what fades in has
 * no contrast yet. It comes in past the page's CSP, by the debugger.
 */
export async function axeComplaints(page: Page): Promise<string[]> {
  await page.locator('.loading').first().waitFor({ state: 'detached' });
  await page.evaluate(async () => {
    const ending = document.getAnimations().filter(({ effect }) => effect?.getComputedTiming().endTime !== Infinity);
    await Promise.allSettled(ending.map(({ finished }) => finished));
  });
  await page.evaluate(await readFile(AXE, 'utf8'));
  return page.evaluate(async () => {
    const axe = (globalThis as unknown as { axe: { run: () => Promise<AxeResults> } }).axe;
    const { violations } = await axe.run();
    return violations.flatMap(({ id, nodes }) => nodes.map(({ target }) => `${id}: ${target.join(' ')}`));
  });
}

interface AxeResults {
  violations: { id: string; nodes: { target: string[] }[] }[];
}
