import type { Page } from 'playwright-core';
import { assertNever } from '../../../contract/assert-never.ts';
import type { FormChoice, PageReading } from '../../../contract/reading.ts';
import { exposeDeclaredRoots } from './shadow-roots.ts';
import { collectFrames } from './frames.ts';
import type { FormModel } from './form-model.ts';
import type { FrameSnapshot } from '../../../reader/facts.ts';
import { hasRequestsInFlight, isNetworkIdle } from './traffic.ts';
import { settle, settleAfterChange, type SettleOptions } from './settle.ts';
import { type PageAnalysis, analyzePage } from '../../../reader/analyze-page.ts';
import { isBrowserErrorPage, isLoadingPage } from '../../../reader/signs/page-signs.ts';
import { signedInHints } from '../../../reader/signs/signed-in.ts';

export { settle, type SettleOptions } from './settle.ts';

const DEFAULT_TIMEOUT_MS = 10_000;
/** How long a page without content (a spinner, an empty root) may take to show something. */
const PATIENCE_MS = 5_000;
/** The same for a page with a lot of text but no login, which is probably complete once no requests are pending. */
const SHORT_PATIENCE_MS = 800;
/** The same for a page that already shows another form: its scripts have run. */
const FORM_PATIENCE_MS = 150;
/** The longest wait for a change before the page is read again. */
const REREAD_INTERVAL_MS = 600;
const A_LOT_OF_TEXT = 200;
/** After this many consecutive readings without a change or pending request, none is expected. */
const IDLE_READINGS = 2;
/** A page with fewer usable controls may be an intermediate page. */
const MIN_CONTROLS = 2;

/** Options of reading a page once it is ready. */
export interface ReadOptions extends SettleOptions {
  /** How long a page without a login may take to show one. Default 5,000; less if it looks complete. */
  readonly patienceMs?: number;
  /** Upper bound of the wait for a page that keeps making requests. Default 5,000. */
  readonly longestMs?: number;
  /**
   * Stop waiting once the page is stable, has no pending requests, and has usable controls: for after a login, where a page without
   * a login is expected. Default false: a form may still appear.
   */
  readonly stopWhenIdle?: boolean | undefined;
  /** Which forms a person has chosen or rejected. */
  readonly chosen?: FormChoice | undefined;
  /** Chooses between forms that the rules rate alike; without one the rules decide. */
  readonly model?: FormModel | undefined;
}

/** The options that a flow sets. */
export type ReadPreferences = Pick<ReadOptions, 'chosen' | 'model' | 'stopWhenIdle'>;

/** Reads a page as it is now, without side effects. A page that is navigating or has crashed reads as `unavailable`. */
export async function readPage(page: Page): Promise<PageReading> {
  return analyzePage(page.url(), await collectFrames(page)).reading;
}

/** Reads a page once it has settled. If it shows no login, waits within `patienceMs` for a change or navigation. */
export async function readWhenSettled(page: Page, options: ReadOptions = {}): Promise<PageReading> {
  return (await readWithReasons(page, options)).reading;
}

/** Like {@link readWhenSettled}, with the evidence for every decision. */
export async function readWithReasons(page: Page, options: ReadOptions = {}): Promise<PageAnalysis> {
  const started = Date.now();
  const timeoutMs = options.timeoutMs ?? DEFAULT_TIMEOUT_MS;
  await settle(page, { ...options, timeoutMs });
  const waitFrom = Date.now();
  let askedLast = waitFrom;
  let rootsOpened = false;
  let idleReadings = 0;
  for (;;) {
    const asked = hasRequestsInFlight(page);
    const frames = await collectFrames(page);
    const analysis = analyzePage(page.url(), frames, options.chosen);
    const { reading } = analysis;
    const isFinal = isConclusive(reading, frames) || (frames.length > 0 && frames.every(({ facts }) => facts.still));
    if (isFinal || page.isClosed() || options.signal?.aborted) return await applyModelChoice(analysis, frames, options);
    if (frames.length === 0) {
      // The page is navigating or its host is busy: retry without waiting for a change.
      const left = started + timeoutMs - Date.now();
      if (left <= 0) return analysis;
      await settle(page, { ...options, timeoutMs: left });
      continue;
    }
    if (!rootsOpened) {
      // Exposing closed shadow roots is only worthwhile if the page seems to have no login.
      rootsOpened = true;
      if ((await exposeDeclaredRoots(page)) > 0) continue;
    }
    // An application may render its layout while it still queries the session, and the form only after that.
    if (options.stopWhenIdle !== true && asked) askedLast = Date.now();
    const patience = options.patienceMs ?? patienceFor(analysis, frames);
    const longest = waitFrom + (options.patienceMs ?? options.longestMs ?? PATIENCE_MS);
    const left = Math.min(askedLast + patience, longest, started + timeoutMs) - Date.now();
    const isIdle = options.stopWhenIdle === true && idleReadings >= IDLE_READINGS && isUsable(frames);
    if (left <= 0 || isIdle) return analysis;
    // Some changes are missed (before the wait began, or in a new shadow root), so the page is read again in any case.
    const hasChanged = await settleAfterChange(page, { ...options, timeoutMs: Math.min(left, REREAD_INTERVAL_MS) });
    idleReadings = hasChanged || !isNetworkIdle(page) ? 0 : idleReadings + 1;
  }
}

/** Lets the model choose between similar forms. Returns `analysis` if there are none or it gives no usable answer. */
async function applyModelChoice(
  analysis: PageAnalysis,
  frames: readonly FrameSnapshot[],
  { model }: ReadOptions,
): Promise<PageAnalysis> {
  const { candidates, reading } = analysis;
  if (candidates === null || model === undefined) return analysis;
  const taken = await model.choose(candidates);
  const why = taken === null ? 'gave no usable answer' : `chose among ${candidates.forms.length} forms`;
  const opinion = { what: 'model', why, frame: [], taken: taken !== null };
  if (taken === null) return { ...analysis, reasons: [opinion, ...analysis.reasons] };
  const now = analyzePage(reading.url, frames, { taken, passedOver: [] });
  return { ...now, reading: { ...now.reading, by_model: true }, reasons: [opinion, ...now.reasons] };
}

/** False while a login may still appear. */
function isConclusive(reading: PageReading, frames: readonly FrameSnapshot[]): boolean {
  const busy = frames.some(({ facts }) => facts.busy);
  switch (reading.kind) {
    case 'other':
      return !busy && linksElsewhere(reading);
    case 'unavailable': {
      const top = frames[0]?.facts;
      if (isLoadingPage(frames)) return false;
      return isBrowserErrorPage(reading.url) || (top !== undefined && (top.status >= 500 || top.texts.length > 0));
    }
    case 'form':
    case 'choice':
    case 'logged_in':
    case 'external_action':
    case 'passkey':
    case 'captcha':
    case 'password_change':
    case 'http_login':
    case 'blocked':
      return true;
    default:
      return assertNever(reading.kind);
  }
}

/** Whether the sign-in link leads to another page. A link to the page itself precedes a form that is still to appear. */
function linksElsewhere({ url, sign_in_link: link }: PageReading): boolean {
  if (!link) return false;
  return link.href === null || new URL(link.href).pathname !== new URL(url).pathname;
}

/** How long a page without a login may take to show one, in milliseconds. Pure. */
export function patienceFor({ showsOtherForm }: PageAnalysis, frames: readonly FrameSnapshot[]): number {
  if (frames.some(({ facts }) => facts.busy)) return PATIENCE_MS;
  if (showsOtherForm) return FORM_PATIENCE_MS;
  // A page that shows account controls has determined the session: a login would be visible by now.
  return looksComplete(frames) || signedInHints(frames).length > 0 ? SHORT_PATIENCE_MS : PATIENCE_MS;
}

/** Whether a page has visible controls and does not indicate that it is loading. Pure. */
function isUsable(frames: readonly FrameSnapshot[]): boolean {
  const used = frames.flatMap(({ facts }) => [...facts.controls, ...facts.clickables]);
  return !frames.some(({ facts }) => facts.busy) && used.filter(({ visible }) => visible).length >= MIN_CONTROLS;
}

function looksComplete(frames: readonly FrameSnapshot[]): boolean {
  const letters = frames.reduce(
    (sum, { facts }) => sum + facts.texts.reduce((all, text) => all + text.text.length, 0),
    0,
  );
  return letters >= A_LOT_OF_TEXT;
}
