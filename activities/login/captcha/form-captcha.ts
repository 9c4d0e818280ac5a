import { setTimeout as sleep } from 'node:timers/promises';
/// <reference lib="dom" />
import type { Frame, Page } from 'playwright-core';
import { inTime } from '../../../contract/in-time.ts';
import type { PageReading } from '../../../contract/reading.ts';
import { isSameSite } from '../../../contract/site-hosts.ts';
import { authorUrl } from '../allowed-sites.ts';
import { resolveFrame, type ElementPath } from '../entering/page-input.ts';

/** How long one document may take to be looked through, in milliseconds. */
const LOOK_WITHIN_MS = 3_000;
/** How long a captcha that can be seen may take to answer itself, as those do that only look at the browser, in milliseconds. */
const OPEN_ANSWERS_WITHIN_MS = 5_000;
/** The same of one that cannot be seen: many are asked by the press itself, so the form is sent then. */
const UNSEEN_ANSWERS_WITHIN_MS = 3_000;
const LOOK_EVERY_MS = 150;

/** True of a form that has a captcha beside its fields which can be seen and has no answer yet. */
export async function hasUnansweredCaptcha(page: Page, { kind, fields }: PageReading): Promise<boolean> {
  const field = fields.find(({ type }) => type === 'password') ?? fields[0];
  return kind === 'form' && field !== undefined && (await captchaStateBeside(page, field)) === 'open';
}

/**
 * Gives a captcha beside the fields the moment in which some answer themselves. False where one that can be seen has no answer then:
 * the form is not to be sent.
 * @param field one of the form that is to be sent.
 * @param beforePress whether the form is sent next: what cannot be seen is waited for, too.
 */
export async function waitForCaptchaAnswer(
  page: Page,
  field: ElementPath,
  beforePress: boolean,
  signal: AbortSignal,
): Promise<boolean> {
  const began = Date.now();
  for (;;) {
    const state = await captchaStateBeside(page, field);
    const isAwaited = state === 'open' || (state === 'unseen' && beforePress);
    const withinMs = state === 'open' ? OPEN_ANSWERS_WITHIN_MS : UNSEEN_ANSWERS_WITHIN_MS;
    if (!isAwaited || Date.now() - began >= withinMs || signal.aborted) return state !== 'open';
    // No event tells of an answer: scripts set the value of a field.
    await sleep(LOOK_EVERY_MS);
  }
}

/** Looks at the document that holds the field, and at the frames of the same site in it. */
async function captchaStateBeside(page: Page, field: ElementPath): Promise<Unanswered> {
  const look = async (): Promise<Unanswered> => {
    const frame = await resolveFrame(page, field);
    const entry = await frame.locator(field.selector).first().elementHandle({ timeout: LOOK_WITHIN_MS });
    const own = await frame.locator(ANSWERS).evaluateAll(captchaStateIn, entry);
    await entry.dispose();
    const states = [own];
    for (const child of own === 'open' ? [] : frame.childFrames()) states.push(await seeInFrame(child));
    return states.find((state) => state === 'open') ?? states.find((state) => state === 'unseen') ?? 'none';
  };
  // A page that is on its way elsewhere asks for nothing here.
  return await inTime(
    look().catch(() => 'none' as const),
    2 * LOOK_WITHIN_MS,
    'none',
  );
}

/** A widget that the site keeps in a frame of its own. What its maker's frame holds is the maker's affair. */
async function seeInFrame(frame: Frame): Promise<Unanswered> {
  const parent = frame.parentFrame();
  if (parent === null || !isSameSite(authorUrl(frame), authorUrl(parent))) return 'none';
  const element = await frame.frameElement();
  const isShown = await element.isVisible();
  await element.dispose();
  return isShown ? await frame.locator(ANSWERS).evaluateAll(captchaStateIn, null) : 'none';
}

/**
 * What a captcha beside the fields of a form is waiting for:
 * - `none`: there is none, it has its answer, or it is only asked once the form is sent
 * - `unseen`: an answer is missing, and nothing of it can be seen: it may come by itself
 * - `open`: an answer is missing, and what asks for it can be seen
 */
export type Unanswered = 'none' | 'unseen' | 'open';

/**
 * What captchas put their answers into (by the names that vendors' scripts give these fields, whatever the site), and the elements
 * that are told which key to ask with: what is hidden in those is an answer, too.
 */
export const ANSWERS = [
  ...['g-recaptcha-response', 'h-captcha-response', 'cf-turnstile-response', 'frc-captcha-solution'],
  ...['frc-captcha-response', 'smart-token', 'geetest_validate', 'altcha', 'mcaptcha__token', 'fc-token'],
]
  .map((name) => `[name="${name}"]`)
  .concat('[data-sitekey]', '[data-sitekey] input[type=hidden]')
  .join(', ');

/**
 * Judges the elements that {@link ANSWERS} finds in one document. Runs in the page: it stands alone and declares no function inside
 * itself. It tells nothing of an answer but whether there is one.
 * @param entry a field of the form that is to be sent; null in a document that has none.
 */
export function captchaStateIn(found: Element[], entry: Element | null): Unanswered {
  // Of several fields of one widget one is enough: vendors fill in those of others, too.
  const widgets = new Map<Element, 'undrawn' | 'empty' | 'answered'>();
  for (const element of found) {
    const marked = element.closest('[data-sitekey]');
    const widget = marked ?? element.parentElement;
    if (widget === null) continue;
    const known = widgets.get(widget);
    if (element === marked) {
      if (known === undefined) widgets.set(widget, 'undrawn');
      continue;
    }
    const isField = element instanceof HTMLInputElement || element instanceof HTMLTextAreaElement;
    const value = isField ? element.value : '';
    // Friendly Captcha writes how far it is: `.UNSTARTED`, `.FETCHING`.
    const isAnswer = value !== '' && !value.startsWith('.');
    if (isAnswer) widgets.set(widget, 'answered');
    else if (known !== 'answered') widgets.set(widget, 'empty');
  }
  let state: Unanswered = 'none';
  for (const [widget, has] of widgets) {
    if (has === 'answered') continue;
    // Another form's captcha is that form's affair.
    const form = widget.closest('form');
    if (entry !== null && form !== null && form !== entry.closest('form')) continue;
    // These are asked by the press that sends the form.
    if (widget.matches('[data-size=invisible], button, input, script')) continue;
    if (state === 'none') state = 'unseen';
    if (has === 'undrawn') continue;
    let part: Element | null = widget;
    for (let level = 0; part !== null && level < 5; level += 1) {
      // As much as that is the form (or the page), not the widget.
      if (entry !== null && part.contains(entry)) break;
      if (
        part.querySelector('select, button[type=submit], input:not([type=hidden], [type=checkbox], [type=button])') !==
        null
      )
        break;
      // The badge of one that judges by itself.
      if (part.closest('.grecaptcha-badge') !== null) break;
      if (part.querySelector('iframe[src*="size=invisible"], iframe[src*="checkbox-invisible"]') !== null) break;
      const { width, height } = part.getBoundingClientRect();
      const isShown =
        width >= 60 && height >= 20 && part.checkVisibility({ visibilityProperty: true, opacityProperty: true });
      // A widget draws a frame, or into a shadow that no script sees; else it is named for what it is.
      const isDrawn =
        part.matches('[data-sitekey], [class*="captcha" i], [class*="turnstile" i], [class*="geetest" i]') ||
        part.querySelector('iframe') !== null ||
        part.textContent.trim() === '';
      if (isShown && isDrawn) return 'open';
      const root: Node = part.getRootNode();
      part = part.parentElement ?? (root instanceof ShadowRoot ? root.host : null);
    }
  }
  return state;
}
