import { z } from 'zod';
import { placeOf, type EmitFromBrowser, type WatchedTarget } from './target.ts';

const InteractionReport = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('click'),
    x: z.number(),
    y: z.number(),
    selector: z.string(),
    tag: z.string(),
    text: z.string(),
  }),
  z.object({ kind: z.literal('key'), key: z.string().optional(), selector: z.string(), tag: z.string() }),
  z.object({
    kind: z.literal('scroll'),
    from_x: z.number(),
    from_y: z.number(),
    to_x: z.number(),
    to_y: z.number(),
    target_selector: z.string(),
  }),
]);

/** Emits a report of the script; invalid reports are dropped. */
export function reportInteraction(target: WatchedTarget, report: unknown, emit: EmitFromBrowser): void {
  const parsed = InteractionReport.safeParse(report);
  if (!parsed.success) return;
  const { kind, ...details } = parsed.data;
  const event = 'Runtime.bindingCalled';
  const data = { ...placeOf(target), ...details };
  if (kind === 'click') emit('interaction_click', event, data);
  else if (kind === 'key') emit('interaction_key', event, data);
  else emit('interaction_scroll_settled', event, data);
}

/**
 * The script that reports interactions in a frame, from an isolated world the page cannot see. Only trusted events are
 * reported. The text of a clicked element is reported only if nothing can have been typed into it, and keys in a field for
 * secrets only if they produce no character. With `typed` false, no keys and texts are reported at all.
 */
export function interactionScript(typed: boolean): string {
  return String.raw`(() => {
  const SETTLED_MS = 300;
  const MAX_TEXT = 1024;
  const EDITABLE = 'input, textarea, select, [contenteditable]:not([contenteditable=false])';
  const SECRET = /pass|pwd|secret|token|otp|2fa|mfa|code|pin|cvc|cvv|csc|card|iban|ssn/i;
  const SECRET_USE = /(?:current-password|new-password|one-time-code|cc-[a-z-]+)\s*$/i;
  const NAMED_KEY = /^[A-Z][A-Za-z0-9]+$/;
  const pathOf = (element) => {
    const parts = [];
    for (let at = element; at instanceof Element && parts.length < 6; at = at.parentElement) {
      if (at.id) { parts.unshift('#' + CSS.escape(at.id)); break; }
      const name = at.localName;
      const same = at.parentElement ? [...at.parentElement.children].filter((one) => one.localName === name) : [];
      parts.unshift(same.length > 1 ? name + ':nth-of-type(' + (same.indexOf(at) + 1) + ')' : name);
    }
    return parts.join(' > ').slice(0, MAX_TEXT);
  };
  const elementOf = (event) => {
    const [first] = event.composedPath();
    return first instanceof Element ? first : document.documentElement;
  };
  const placeOf = (element) => ({ selector: pathOf(element), tag: element.tagName.toUpperCase() });
  const textOf = (element) => {
    if (!${typed} || element.isContentEditable || element.matches(EDITABLE) || element.querySelector(EDITABLE)) return '';
    const all = element.textContent ?? '';
    // innerText is expensive for long texts.
    return (all.length > 10 * MAX_TEXT ? all : (element.innerText ?? all)).trim().slice(0, MAX_TEXT);
  };
  /** Fields that once hid their value stay secret: pages can reveal it on request. */
  const hidden = new WeakSet();
  const isSecret = (element) => {
    if (element instanceof HTMLInputElement && element.type === 'password') hidden.add(element);
    if (hidden.has(element)) return true;
    const { name, id, autocomplete } = element;
    return [name, id].some((word) => SECRET.test(String(word ?? ''))) || SECRET_USE.test(String(autocomplete ?? ''));
  };
  const options = { capture: true, passive: true };
  addEventListener('focus', (event) => { if (event.target instanceof Element) isSecret(event.target); }, options);
  addEventListener('click', (event) => {
    if (!event.isTrusted) return;
    const element = elementOf(event);
    report({ kind: 'click', x: Math.round(event.clientX), y: Math.round(event.clientY), ...placeOf(element), text: textOf(element) });
  }, options);
  addEventListener('keydown', (event) => {
    if (!event.isTrusted) return;
    const element = elementOf(event);
    const key = ${typed} && (NAMED_KEY.test(event.key) || !isSecret(element)) ? event.key : undefined;
    report({ kind: 'key', key, ...placeOf(element) });
  }, options);
  const scrolls = new Map();
  const positions = new WeakMap();
  const positionOf = (at) => (at === document ? [scrollX, scrollY] : [at.scrollLeft, at.scrollTop]).map(Math.round);
  addEventListener('scroll', (event) => {
    const at = event.target;
    if (at !== document && !(at instanceof Element)) return;
    const running = scrolls.get(at) ?? { from: positions.get(at) ?? [0, 0] };
    clearTimeout(running.timer);
    running.timer = setTimeout(() => {
      scrolls.delete(at);
      const [to_x, to_y] = positionOf(at);
      positions.set(at, [to_x, to_y]);
      const [from_x, from_y] = running.from;
      report({ kind: 'scroll', from_x, from_y, to_x, to_y, target_selector: pathOf(at === document ? document.scrollingElement : at) });
    }, SETTLED_MS);
    scrolls.set(at, running);
  }, options);
})();`;
}
