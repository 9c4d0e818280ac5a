import { setTimeout as sleep } from 'node:timers/promises';
/// <reference lib="dom" />
import type { Frame, Page } from 'playwright-core';
import { withTimeout } from '../../../contract/with-timeout.ts';
import type { PageReading } from '../../../contract/reading.ts';
import { isSameSite } from '../../../contract/site-hosts.ts';
import { authorUrl } from '../allowed-sites.ts';
import { resolveFrame, type ElementPath } from '../entering/page-input.ts';

const DOCUMENT_TIMEOUT_MS = 3_000;
/** How long a visible captcha may take to solve itself, as those that only inspect the browser do, in milliseconds. */
const VISIBLE_TIMEOUT_MS = 5_000;
/** The same for a hidden one. Many of these run on submit, so the form is submitted after that. */
const HIDDEN_TIMEOUT_MS = 3_000;
const POLL_INTERVAL_MS = 150;

/** Whether a form contains a visible captcha without an answer. */
export async function hasUnansweredCaptcha(page: Page, { kind, fields }: PageReading): Promise<boolean> {
  const field = fields.find(({ type }) => type === 'password') ?? fields[0];
  return kind === 'form' && field !== undefined && (await captchaStateBeside(page, field)) === 'visible';
}

/**
 * Waits a moment for a captcha in the form to solve itself. False if a visible one remains without an answer, so that the form must
 * not be submitted.
 * @param field a field of the form.
 * @param beforePress whether the form is submitted next: hidden captchas are awaited too.
 */
export async function waitForCaptchaAnswer(
  page: Page,
  field: ElementPath,
  beforePress: boolean,
  signal: AbortSignal,
): Promise<boolean> {
  const startedAt = Date.now();
  for (;;) {
    const state = await captchaStateBeside(page, field);
    const isAwaited = state === 'visible' || (state === 'hidden' && beforePress);
    const timeoutMs = state === 'visible' ? VISIBLE_TIMEOUT_MS : HIDDEN_TIMEOUT_MS;
    if (!isAwaited || Date.now() - startedAt >= timeoutMs || signal.aborted) return state !== 'visible';
    // Polled, because there is no event when a script sets the value of a field.
    await sleep(POLL_INTERVAL_MS);
  }
}

/** The state of captchas in the document that contains the field, and in its same-site frames. */
async function captchaStateBeside(page: Page, field: ElementPath): Promise<CaptchaState> {
  const look = async (): Promise<CaptchaState> => {
    const frame = await resolveFrame(page, field);
    const own = await captchaStateInForm(frame, field);
    const states = [own];
    for (const child of own === 'visible' ? [] : frame.childFrames()) states.push(await captchaStateInFrame(child));
    return states.find((state) => state === 'visible') ?? states.find((state) => state === 'hidden') ?? 'none';
  };
  // Fails for a page that is navigating.
  return await withTimeout(
    look().catch(() => 'none' as const),
    2 * DOCUMENT_TIMEOUT_MS,
    'none',
  );
}

/** The field is looked for only next to a captcha: it may have gone, because many forms submit themselves on the last digit of a code. */
async function captchaStateInForm(frame: Frame, { selector }: ElementPath): Promise<CaptchaState> {
  const captchas = frame.locator(CAPTCHA_SELECTOR);
  if ((await captchas.count()) === 0) return 'none';
  const entry = await frame.locator(selector).first().elementHandle({ timeout: DOCUMENT_TIMEOUT_MS });
  const state = await captchas.evaluateAll(captchaStateIn, entry);
  await entry.dispose();
  return state;
}

/** The state of a captcha that the site embeds in a frame of its own. The vendor's frames are not inspected. */
async function captchaStateInFrame(frame: Frame): Promise<CaptchaState> {
  const parent = frame.parentFrame();
  if (parent === null || !isSameSite(authorUrl(frame), authorUrl(parent))) return 'none';
  const element = await frame.frameElement();
  const isShown = await element.isVisible();
  await element.dispose();
  return isShown ? await frame.locator(CAPTCHA_SELECTOR).evaluateAll(captchaStateIn, null) : 'none';
}

/**
 * The state of captchas in a form:
 * - `none`: there is none, it has an answer, or it only runs on submit
 * - `hidden`: a captcha without an answer is not visible; it may solve itself
 * - `visible`: a captcha without an answer is visible
 */
type CaptchaState = 'none' | 'hidden' | 'visible';

/** Matches the fields that vendors' scripts put answers into, elements with a site key, and hidden fields in those. */
const CAPTCHA_SELECTOR = [
  ...['g-recaptcha-response', 'h-captcha-response', 'cf-turnstile-response', 'frc-captcha-solution'],
  ...['frc-captcha-response', 'smart-token', 'geetest_validate', 'altcha', 'mcaptcha__token', 'fc-token'],
]
  .map((name) => `[name="${name}"]`)
  .concat('[data-sitekey]', '[data-sitekey] input[type=hidden]')
  .join(', ');

/**
 * The state of the elements that {@link CAPTCHA_SELECTOR} finds in one document. Runs in the page, so it is self-contained and
 * declares no inner functions. Reveals no more of an answer than whether there is one.
 * @param entry a field of the form; null in a document that does not contain the form.
 */
function captchaStateIn(found: Element[], entry: Element | null): CaptchaState {
  // One filled field per widget suffices: widgets also have fields named for other vendors.
  const widgets = new Map<Element, 'not rendered' | 'empty' | 'answered'>();
  for (const element of found) {
    const marked = element.closest('[data-sitekey]');
    const widget = marked ?? element.parentElement;
    if (widget === null) continue;
    const known = widgets.get(widget);
    if (element === marked) {
      if (known === undefined) widgets.set(widget, 'not rendered');
      continue;
    }
    const isField = element instanceof HTMLInputElement || element instanceof HTMLTextAreaElement;
    const value = isField ? element.value : '';
    // Friendly Captcha stores its progress in the field: `.UNSTARTED`, `.FETCHING`.
    const isAnswer = value !== '' && !value.startsWith('.');
    if (isAnswer) widgets.set(widget, 'answered');
    else if (known !== 'answered') widgets.set(widget, 'empty');
  }
  let state: CaptchaState = 'none';
  for (const [widget, has] of widgets) {
    if (has === 'answered') continue;
    // Ignore captchas of other forms.
    const form = widget.closest('form');
    if (entry !== null && form !== null && form !== entry.closest('form')) continue;
    // These run on submit.
    if (widget.matches('[data-size=invisible], button, input, script')) continue;
    if (state === 'none') state = 'hidden';
    if (has === 'not rendered') continue;
    let part: Element | null = widget;
    for (let level = 0; part !== null && level < 5; level += 1) {
      // An ancestor this large is the form or the page, not the widget.
      if (entry !== null && part.contains(entry)) break;
      if (
        part.querySelector('select, button[type=submit], input:not([type=hidden], [type=checkbox], [type=button])') !==
        null
      )
        break;
      // The badge of a score-based captcha.
      if (part.closest('.grecaptcha-badge') !== null) break;
      if (part.querySelector('iframe[src*="size=invisible"], iframe[src*="checkbox-invisible"]') !== null) break;
      const { width, height } = part.getBoundingClientRect();
      const isShown =
        width >= 60 && height >= 20 && part.checkVisibility({ visibilityProperty: true, opacityProperty: true });
      // A widget renders a frame or a closed shadow root; otherwise it is recognized by its class.
      const isWidget =
        part.matches('[data-sitekey], [class*="captcha" i], [class*="turnstile" i], [class*="geetest" i]') ||
        part.querySelector('iframe') !== null ||
        part.textContent.trim() === '';
      if (isShown && isWidget) return 'visible';
      const root: Node = part.getRootNode();
      part = part.parentElement ?? (root instanceof ShadowRoot ? root.host : null);
    }
  }
  return state;
}
