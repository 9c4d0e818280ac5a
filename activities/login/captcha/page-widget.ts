import type { Frame, Page } from 'playwright-core';
import { z } from 'zod';
import type { LoginTarget } from '../../../contract/activities.ts';
import { withTimeout } from '../../../contract/with-timeout.ts';
import { authorUrl, mayNavigateTo } from '../allowed-sites.ts';
import { findWidget, WIDGET_FACTS_SCRIPT, WidgetFacts, type Widget, type WidgetType } from './widget.ts';

const DOCUMENT_TIMEOUT_MS = 3_000;

/** A widget, and the frame whose document contains it. */
export interface PageWidget {
  widget: Widget;
  frame: Frame;
}

/** Finds the captcha widget of a page, in the page itself or in a frame of an allowed site; null if there is none. */
export async function findPageWidget(page: Page, target: LoginTarget): Promise<PageWidget | null> {
  for (const frame of page.frames()) {
    if (frame.parentFrame() !== null && !mayNavigateTo(authorUrl(frame), target)) continue;
    const facts = await factsOf(frame);
    const childUrls = frame.childFrames().map((child) => child.url());
    const widget = facts === null ? null : findWidget(facts, childUrls);
    if (widget !== null) return { widget, frame };
  }
  return null;
}

async function factsOf(frame: Frame): Promise<WidgetFacts | null> {
  const json = await evaluateWithTimeout(frame.evaluate<unknown>(WIDGET_FACTS_SCRIPT));
  try {
    return WidgetFacts.parse(JSON.parse(z.string().parse(json)));
  } catch {
    return null;
  }
}

/** Fields that a vendor's script puts its answer into; the first is created if none exists. */
const ANSWER_FIELDS: Record<WidgetType, readonly [string, ...string[]]> = {
  recaptcha_v2: ['g-recaptcha-response'],
  recaptcha_v3: ['g-recaptcha-response'],
  hcaptcha: ['h-captcha-response', 'g-recaptcha-response'],
  turnstile: ['cf-turnstile-response', 'g-recaptcha-response'],
};

/**
 * Sets the answer as the vendor's script would, and calls the widget's callback. Without a callback the form is submitted, but only
 * if nothing was typed into it, so that no password is posted again. Callbacks and submission run after the script has returned.
 */
const ANSWER_SCRIPT = String.raw`({ names, key, token }) => {
  const widgets = [...document.querySelectorAll('[data-sitekey]')].filter((element) => element.getAttribute('data-sitekey') === key);
  const fields = names.flatMap((name) => [...document.getElementsByName(name)]);
  if (fields.length === 0 && widgets.length > 0) {
    const made = document.createElement('input');
    made.type = 'hidden';
    made.name = names[0];
    widgets[0].append(made);
    fields.push(made);
  }
  for (const field of fields) {
    field.value = token;
    for (const type of ['input', 'change']) field.dispatchEvent(new Event(type, { bubbles: true }));
  }
  const callbacks = new Set();
  const take = (callback) => {
    const found = typeof callback === 'string' ? callback.split('.').reduce((at, name) => at?.[name], window) : callback;
    if (typeof found === 'function') callbacks.add(found);
  };
  for (const widget of widgets) take(widget.getAttribute('data-callback') ?? undefined);
  const seen = new Set();
  const search = (at, depth) => {
    if (at === null || typeof at !== 'object' || depth > 5 || seen.has(at) || at === window || at instanceof Node) return;
    seen.add(at);
    if ('callback' in at && (at.sitekey === undefined || at.sitekey === key)) take(at.callback);
    for (const name of Object.keys(at)) search(at[name], depth + 1);
  };
  if (names[0] === 'g-recaptcha-response' && callbacks.size === 0) search(window.___grecaptcha_cfg?.clients ?? null, 0);
  for (const callback of callbacks) setTimeout(() => callback(token));
  const form = fields.map((field) => field.form).find((each) => each !== null && each !== undefined);
  const typed = 'input:not([type=hidden], [type=checkbox], [type=radio], [type=submit], [type=button]), select';
  if (callbacks.size === 0 && form !== undefined && form.querySelector(typed) === null) setTimeout(() => form.requestSubmit());
  return fields.length > 0 || callbacks.size > 0;
}`;

/** Gives the page its answer. False if the page no longer accepts one. */
export async function answerWidget({ widget, frame }: PageWidget, token: string): Promise<boolean> {
  const names = ANSWER_FIELDS[widget.type];
  const input = JSON.stringify({ names, key: widget.siteKey, token });
  return (await evaluateWithTimeout(frame.evaluate<unknown>(`(${ANSWER_SCRIPT})(${input})`))) === true;
}

/** Null after a timeout or an error, which is dropped because it may quote the token. */
function evaluateWithTimeout<Result>(work: Promise<Result>): Promise<Result | null> {
  return withTimeout(
    work.catch(() => null),
    DOCUMENT_TIMEOUT_MS,
    null,
  );
}
