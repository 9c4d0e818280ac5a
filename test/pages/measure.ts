import type { Browser, BrowserContext, Page } from 'playwright-core';
import { readWhenSettled } from '../../activities/login/reading/read-page.ts';
import type { PageReading } from '../../contract/reading.ts';
import type { CorpusPage } from './page.ts';

/** How one page of the corpus was read. */
export interface Verdict {
  readonly page: CorpusPage;
  readonly reading: PageReading;
  /** Milliseconds of the reading, the loading of the page not counted. */
  readonly ms: number;
  readonly fieldsRight: boolean;
  readonly submitRight: boolean;
  readonly providersRight: boolean;
  readonly falseProviders: boolean;
  readonly kindRight: boolean;
  /** What was expected and what was found, for whoever looks at a miss. */
  readonly found: string;
}

/** Only a hang takes as long to open a page, in milliseconds. */
const HANGS_AFTER_MS = 180_000;

/** Reads pages of the corpus in one browser, several at a time. */
export async function measure(browser: Browser, pages: readonly CorpusPage[], atOnce = 4): Promise<Verdict[]> {
  const verdicts: Verdict[] = [];
  await eachOpened(browser, pages, async (page, wanted) => void verdicts.push(await judge(page, wanted)), atOnce);
  const order = new Map(pages.map((page, at) => [page.name, at]));
  return verdicts.sort((a, b) => (order.get(a.page.name) ?? 0) - (order.get(b.page.name) ?? 0));
}

/** Opens each page of the corpus, several at a time, and hands it over when it has loaded. */
export async function eachOpened(
  browser: Browser,
  pages: readonly CorpusPage[],
  look: (page: Page, wanted: CorpusPage) => Promise<void>,
  atOnce = 4,
): Promise<void> {
  const byAddress = new Map<string, CorpusPage>();
  for (const page of pages) byAddress.set(page.address, page);
  let next = 0;
  const work = async (): Promise<void> => {
    const context = await browser.newContext();
    await serve(context, byAddress);
    // One that goes on to the next address costs a fifth of a new one.
    const page = await context.newPage();
    for (let at = next++; at < pages.length; at = next++) {
      const wanted = pages[at];
      if (wanted === undefined) break;
      await page.goto(wanted.address, { waitUntil: 'commit', timeout: HANGS_AFTER_MS });
      await page.waitForLoadState('load');
      await look(page, wanted);
    }
    await context.close();
  };
  await Promise.all(Array.from({ length: atOnce }, work));
}

/** Answers every request of the context from the corpus: no page reaches the network. */
async function serve(context: BrowserContext, byAddress: ReadonlyMap<string, CorpusPage>): Promise<void> {
  const frames = new Map<string, string>();
  for (const page of byAddress.values()) {
    for (const [address, html] of Object.entries(page.frames ?? {})) {
      frames.set(new URL(address, page.address).href, html);
    }
  }
  await context.route('**/*', async (route) => {
    const address = route.request().url();
    const page = byAddress.get(address);
    const body = page?.html ?? frames.get(address);
    const type = 'text/html; charset=utf-8';
    if (body === undefined) await route.fulfill({ status: 404, body: '' });
    else await route.fulfill({ status: page?.status ?? 200, contentType: type, body });
  });
}

async function judge(page: Page, wanted: CorpusPage): Promise<Verdict> {
  const began = performance.now();
  const reading = await readWhenSettled(page);
  const ms = performance.now() - began;

  const fields: string[] = [];
  for (const field of reading.fields) {
    const truth = await truthOf(page, field);
    fields.push(truth === 'any' || truth === field.type ? truth : `${truth ?? 'alien'} as ${field.type}`);
  }
  const expected = wanted.truth.fields ?? [];
  const submitTruth = reading.submit === null ? null : await truthOf(page, reading.submit);
  const submitExists = wanted.truth.submit ?? hasSubmit(wanted);
  const providers: string[] = [];
  for (const choice of reading.choices) {
    if (choice.type !== 'sso_provider') continue;
    const truth = await truthOf(page, choice);
    const isSame = truth !== null && (truth === `sso:${choice.provider ?? ''}` || !KNOWN.test(truth));
    providers.push(isSame ? truth : `${truth ?? 'alien'} as ${choice.provider ?? ''}`);
  }
  const wantedProviders = [...(wanted.truth.providers ?? [])].sort();
  const others = reading.choices.filter(({ type }) => type !== 'sso_provider').map(({ type }) => type);
  const kinds = wanted.truth.kind ?? (expected.length > 0 ? ['form'] : undefined);
  const fieldsRight = sameLists(fields, expected);
  const wantsChoices = wanted.truth.choices;
  const channels = reading.fields.flatMap((field) => ('channel' in field ? [String(field.channel)] : []));
  const channelRight = wanted.truth.channel === undefined || channels.includes(wanted.truth.channel);
  const choicesRight = wantsChoices === undefined || sameLists(others.sort(), [...wantsChoices].sort());
  return {
    page: wanted,
    reading,
    ms,
    fieldsRight,
    submitRight:
      fieldsRight && (expected.length === 0 || (submitExists ? submitTruth === 'submit' : reading.submit === null)),
    providersRight: sameLists(providers.sort(), wantedProviders),
    falseProviders: wantedProviders.length === 0 && providers.length > 0,
    kindRight:
      (kinds === undefined ? reading.kind !== 'form' : kinds.includes(reading.kind)) && channelRight && choicesRight,
    found: `${reading.kind}: ${fields.join(', ')}; submit ${submitTruth ?? 'none'}; ${providers.join(', ')}; ${others.join(', ')} ${channels.join()}`,
  };
}

/** Providers that are known by name. */
const KNOWN = /^sso:(google|facebook|apple|github|microsoft|linkedin|twitter|gitlab|okta|saml|sso)$/;

function hasSubmit({ html, frames = {} }: CorpusPage): boolean {
  return [html, ...Object.values(frames)].some((text) => /truth=\\?"submit/.test(text));
}

async function truthOf(page: Page, read: { selector: string; frame: readonly string[] }): Promise<string | null> {
  let scope: Pick<Page, 'locator' | 'frameLocator'> = page;
  for (const each of read.frame) scope = scope.frameLocator(each);
  const found = scope.locator(read.selector).first();
  return await found.getAttribute('truth', { timeout: 10_000 }).catch(() => 'unreachable');
}

function sameLists(left: readonly string[], right: readonly string[]): boolean {
  return left.length === right.length && left.every((each, at) => each === right[at]);
}
