import type { Page } from 'playwright-core';
import { assertNever } from '../../../contract/assert-never.ts';
import type { FormChoice, PageReading } from '../../../contract/reading.ts';
import { exposeDeclaredRoots } from './shadow-roots.ts';
import { collectFrames } from './frames.ts';
import type { FormModel } from './form-model.ts';
import type { SeenFrame } from '../../../reader/clusters.ts';
import { hasRequestsInFlight, isNetworkIdle } from './traffic.ts';
import { settle, settleAfterChange, type SettleOptions } from './settle.ts';
import { isErrorPage, ownSigns, showsOnlyLoading } from '../../../reader/signs.ts';
import { understand, understandWithReasons, type Understood } from '../../../reader/understand.ts';

export { settle, type SettleOptions } from './settle.ts';

const DEFAULT_TIMEOUT_MS = 10_000;
/** How long a page that says nothing yet (a spinner, an empty root) is given to say something. */
const PATIENCE_MS = 5_000;
/** The same for a page that has a lot to say, but nothing to answer: it is likely to be complete, once it asks its server nothing. */
const SHORT_PATIENCE_MS = 800;
/** The same where a form for something else stands on the page already: its scripts have done their work. */
const FORM_PATIENCE_MS = 150;
/** The longest wait for a change before the page is looked at again. */
const LOOK_AGAIN_MS = 600;
const A_LOT_OF_TEXT = 200;
/** So many looks in a row that see no change, with nothing on its way from a server, say that none is to come. */
const STILL_LOOKS = 2;
/** A page that says little and has fewer things to use than this may only be passing through. */
const ENOUGH_TO_USE = 2;

/** Limits of reading when the page is ready. */
export interface ReadOptions extends SettleOptions {
  /** How long a page without anything to answer is given to show something. Default 5,000; less when it looks complete. */
  readonly patienceMs?: number;
  /** The longest that a page is waited for which has a lot to say and still asks its server for something. Default 5,000. */
  readonly longestMs?: number;
  /**
   * A page that stands still, waits for no server and has things to use is not waited for any longer: for after a login, where a
   * page without anything to answer is what was hoped for. Default false: a form may still come.
   */
  readonly stopWhenIdle?: boolean | undefined;
  /** What a person has said of the forms that were taken. */
  readonly chosen?: FormChoice | undefined;
  /** Asked between forms that the rules see little difference between; without one the rules decide alone. */
  readonly model?: FormModel | undefined;
}

/** How a flow has its pages judged. */
export type ReadPreferences = Pick<ReadOptions, 'chosen' | 'model' | 'stopWhenIdle'>;

/**
 * Reads what a page asks of its visitor, as it is at this moment. Nothing is typed, pressed or changed, so it may be repeated
 * at any time. A page that gives no answer (it is navigating, or crashed) reads as `unavailable`.
 */
export async function readPage(page: Page): Promise<PageReading> {
  return understand(page.url(), await collectFrames(page));
}

/**
 * Reads the page as soon as it says something: settles, reads, and where nothing can be answered waits for the next change of
 * the document (a form that a script builds late) or a navigation, within `patienceMs`.
 */
export async function readWhenSettled(page: Page, options: ReadOptions = {}): Promise<PageReading> {
  return (await readWithReasons(page, options)).reading;
}

/** The same, with the evidence of every decision. */
export async function readWithReasons(page: Page, options: ReadOptions = {}): Promise<Understood> {
  const started = Date.now();
  const timeoutMs = options.timeoutMs ?? DEFAULT_TIMEOUT_MS;
  await settle(page, { ...options, timeoutMs });
  const waitFrom = Date.now();
  let askedLast = waitFrom;
  let rootsOpened = false;
  let stillLooks = 0;
  for (;;) {
    const asked = hasRequestsInFlight(page);
    const frames = await collectFrames(page);
    const understood = understandWithReasons(page.url(), frames, options.chosen);
    const { reading } = understood;
    const isFinal = isConclusive(reading, frames) || (frames.length > 0 && frames.every(({ facts }) => facts.still));
    if (isFinal || page.isClosed() || options.signal?.aborted)
      return await applyModelChoice(understood, frames, options);
    if (frames.length === 0) {
      // The page itself gave no answer (it navigates, or its machine is busy): it is asked again, not waited for.
      const left = started + timeoutMs - Date.now();
      if (left <= 0) return understood;
      await settle(page, { ...options, timeoutMs: left });
      continue;
    }
    if (!rootsOpened) {
      // What stands in a closed root cannot be seen in the page: only one that seems to ask for nothing is worth the look.
      rootsOpened = true;
      if ((await exposeDeclaredRoots(page)) > 0) continue;
    }
    // An application may draw its frame while it still asks who is there, and the form only when it has been told.
    if (options.stopWhenIdle !== true && asked) askedLast = Date.now();
    const patience = options.patienceMs ?? patienceFor(understood, frames);
    const longest = waitFrom + (options.patienceMs ?? options.longestMs ?? PATIENCE_MS);
    const left = Math.min(askedLast + patience, longest, started + timeoutMs) - Date.now();
    const isStill = options.stopWhenIdle === true && stillLooks >= STILL_LOOKS && isUsable(frames);
    if (left <= 0 || isStill) return understood;
    // Not every change raises an event (one before the wait began, one in a shadow root made since): look again anyway.
    const hasChanged = await settleAfterChange(page, { ...options, timeoutMs: Math.min(left, LOOK_AGAIN_MS) });
    stillLooks = hasChanged || !isNetworkIdle(page) ? 0 : stillLooks + 1;
  }
}

/** The reading as a model takes it, where the forms are close and it names one of them; else as it was. */
async function applyModelChoice(
  understood: Understood,
  frames: readonly SeenFrame[],
  { model }: ReadOptions,
): Promise<Understood> {
  const { close, reading } = understood;
  if (close === null || model === undefined) return understood;
  const taken = await model.choose(close);
  const why = taken === null ? 'gave no usable answer' : `chose among ${close.forms.length} forms`;
  const opinion = { what: 'model', why, frame: [], taken: taken !== null };
  if (taken === null) return { ...understood, reasons: [opinion, ...understood.reasons] };
  const now = understandWithReasons(reading.url, frames, { taken, passedOver: [] });
  return { ...now, reading: { ...now.reading, by_model: true }, reasons: [opinion, ...now.reasons] };
}

/** False while waiting may still show something to answer. */
function isConclusive(reading: PageReading, frames: readonly SeenFrame[]): boolean {
  const busy = frames.some(({ facts }) => facts.busy);
  switch (reading.kind) {
    case 'other':
      return !busy && leadsOn(reading);
    case 'unavailable': {
      const top = frames[0]?.facts;
      if (showsOnlyLoading(frames)) return false;
      return isErrorPage(reading.url) || (top !== undefined && (top.status >= 500 || top.texts.length > 0));
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

/** A link to another page; one to the page itself stands above the form that is still to come. */
function leadsOn({ url, sign_in_link: link }: PageReading): boolean {
  if (!link) return false;
  return link.href === null || new URL(link.href).pathname !== new URL(url).pathname;
}

/** How long a page that asks for nothing is given to show something after all, in milliseconds. Pure. */
export function patienceFor({ showsOtherForm }: Understood, frames: readonly SeenFrame[]): number {
  if (frames.some(({ facts }) => facts.busy)) return PATIENCE_MS;
  if (showsOtherForm) return FORM_PATIENCE_MS;
  // A page that shows somebody's menu, settings or name has found out who is there: a login would stand on it by now.
  return looksComplete(frames) || ownSigns(frames).length > 0 ? SHORT_PATIENCE_MS : PATIENCE_MS;
}

/** True of a page that a visitor can do something with, and that does not say that it is loading. Pure. */
export function isUsable(frames: readonly SeenFrame[]): boolean {
  const used = frames.flatMap(({ facts }) => [...facts.controls, ...facts.clickables]);
  return !frames.some(({ facts }) => facts.busy) && used.filter(({ visible }) => visible).length >= ENOUGH_TO_USE;
}

function looksComplete(frames: readonly SeenFrame[]): boolean {
  const letters = frames.reduce(
    (sum, { facts }) => sum + facts.texts.reduce((all, text) => all + text.text.length, 0),
    0,
  );
  return letters >= A_LOT_OF_TEXT;
}
