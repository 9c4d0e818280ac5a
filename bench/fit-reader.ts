import type { Browser, Page } from 'playwright-core';
import { chromium } from 'playwright-core';
import { readWhenSettled } from '../activities/login/reading/read-page.ts';
import { collectFrames } from '../activities/login/reading/frames.ts';
import { corpus, isHeldOut } from '../test/pages/corpus.ts';
import { eachOpened } from '../test/pages/measure.ts';
import { writtenPages } from '../test/pages/written.ts';
import type { Figure } from './figure.ts';
import { fitted, type Example } from './fit.ts';
import type { ClickableFacts } from '../reader/facts.ts';
import { type LoginForm, chooseLoginForm } from '../reader/form/login-form.ts';
import { MIN_SUBMIT_SCORE, SUBMIT_WEIGHTS, type SubmitSign, findSubmit, submitSigns } from '../reader/form/submit.ts';
import {
  LINK_WEIGHTS,
  type LinkSign,
  MIN_LINK_SCORE,
  linkSigns,
  rankSignInLinks,
} from '../reader/signs/sign-in-links.ts';

/** Fits the weights of reader/form/submit.ts and reader/signs/sign-in-links.ts to the labeled pages of the corpus. */
export async function fitReader(executablePath: string): Promise<Figure[]> {
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
  try {
    return [
      ...fitted('Entrances of sites', await signInLinkExamples(browser), LINK_WEIGHTS, MIN_LINK_SCORE),
      ...fitted('Buttons of logins', await submitExamples(browser), SUBMIT_WEIGHTS, MIN_SUBMIT_SCORE),
    ];
  } finally {
    await browser.close();
  }
}

async function signInLinkExamples(browser: Browser): Promise<Example<LinkSign>[]> {
  const pages = corpus().filter(({ truth }) => truth.entrance !== undefined);
  const examples: Example<LinkSign>[] = [];
  await eachOpened(browser, pages, async (page, wanted) => {
    const [top] = await collectFrames(page);
    if (top === undefined) return;
    const controls = top.facts.clickables.filter((each) => linkSigns(each).length > 0);
    const isTruth = await Promise.all(controls.map((each) => isMarked(page, each, 'entrance')));
    const truth = controls.find((_, at) => isTruth[at] === true) ?? null;
    examples.push({
      candidates: controls.map((each) => ({ signs: linkSigns(each), isTruth: each === truth })),
      isRight: (weights) =>
        (rankSignInLinks(controls, weights)[0] ?? null) === truth && (truth !== null) === wanted.truth.entrance,
      isHeldOut: isHeldOut(wanted),
    });
  });
  return examples;
}

async function submitExamples(browser: Browser): Promise<Example<SubmitSign>[]> {
  const pages = [...corpus(), ...writtenPages()].filter(({ truth }) => (truth.fields ?? []).length > 0);
  const examples: Example<SubmitSign>[] = [];
  await eachOpened(browser, pages, async (page, wanted) => {
    await readWhenSettled(page);
    const { login } = chooseLoginForm(await collectFrames(page));
    if (login === undefined) return;
    const controls = controlsOf(login);
    const isTruth = await Promise.all(controls.map((each) => isMarked(page, each, 'submit', login.frame.path)));
    const truth = controls.find((_, at) => isTruth[at] === true) ?? null;
    examples.push({
      candidates: controls.map((each) => ({ signs: submitSigns(each, login.last) ?? [], isTruth: each === truth })),
      isRight: (weights) => (findSubmit(login, weights)?.button ?? null) === truth,
      isHeldOut: isHeldOut(wanted),
    });
  });
  return examples;
}

/** Candidates for the submit button. */
function controlsOf({ frame, last }: LoginForm): ClickableFacts[] {
  return frame.facts.clickables.filter((each) => each.visible && submitSigns(each, last) !== null);
}

async function isMarked(
  page: Page,
  { selector }: ClickableFacts,
  truth: string,
  path: readonly string[] = [],
): Promise<boolean> {
  let scope: Pick<Page, 'locator' | 'frameLocator'> = page;
  for (const each of path) scope = scope.frameLocator(each);
  const found = scope.locator(selector).first();
  return (await found.getAttribute('truth', { timeout: 10_000 }).catch(() => null)) === truth;
}
