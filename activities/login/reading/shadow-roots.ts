import type { BrowserContext } from 'playwright-core';

/**
 * Runs before a page's own scripts. A proxy, not a function of ours: it calls itself native, as the browser's own does.
 * A string, because a serialized function would carry what the loader adds to functions.
 */
const OPENS_ROOTS = `Element.prototype.attachShadow = new Proxy(Element.prototype.attachShadow, {
  apply: (attach, host, [init, ...rest]) => Reflect.apply(attach, host, [init && { ...init, mode: 'open' }, ...rest]),
});`;

/**
 * Has every document that the context opens from now on attach its shadow roots open, those that ask for closed ones
 * too: what stands in a closed root can be neither read nor found again to be filled in. The browser runs it itself, so that
 * no content security policy stops it. Roots that are declared in markup
 * are opened when the page is read (declared-roots.ts).
 */
export async function openShadowRoots(context: BrowserContext): Promise<void> {
  await context.addInitScript({ content: OPENS_ROOTS });
}
