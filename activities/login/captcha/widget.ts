import { z } from 'zod';
import { isWithin } from '../../../contract/site-hosts.ts';
import type { CaptchaType } from '../../../contract/telemetry-events.ts';

/** Types of widget that a solver can solve outside the page, from a URL and a site key. */
export type WidgetType = Extract<CaptchaType, 'recaptcha_v2' | 'recaptcha_v3' | 'hcaptcha' | 'turnstile'>;

/** A captcha widget as configured by the site. All of it is public. */
export interface Widget {
  type: WidgetType;
  siteKey: string;
  /** It has no checkbox (reCAPTCHA v2). */
  invisible: boolean;
  /** It belongs to reCAPTCHA Enterprise, which verifies answers elsewhere. */
  enterprise: boolean;
}

/** The facts collected from a document. */
export const WidgetFacts = z.object({
  /** Elements with `data-sitekey`, in document order. */
  elements: z
    .array(
      z.object({ names: z.string().max(500), key: z.string().max(200), size: z.string().max(50), shown: z.boolean() }),
    )
    .max(20),
  /** URLs of reCAPTCHA scripts. */
  scripts: z.array(z.string().max(2000)).max(20),
});
export type WidgetFacts = z.infer<typeof WidgetFacts>;

const KEY = /^[\w-]{10,100}$/;
const TURNSTILE_KEY = /^[0-9]x[\w-]{8,}$/;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Collects {@link WidgetFacts} as JSON. A string, because a serialized function would contain what the loader adds. */
export const WIDGET_FACTS_SCRIPT = String.raw`JSON.stringify({
  elements: [...document.querySelectorAll('[data-sitekey]')].slice(0, 20).map((element) => {
    const { width, height } = element.getBoundingClientRect();
    return {
      names: (element.getAttribute('class') ?? '').slice(0, 500),
      key: (element.getAttribute('data-sitekey') ?? '').slice(0, 200),
      size: (element.getAttribute('data-size') ?? '').slice(0, 50),
      shown: width > 10 && height > 10,
    };
  }),
  scripts: [...document.scripts].map(({ src }) => src).filter((src) => src.includes('/recaptcha/') && src.length < 2000).slice(0, 20),
})`;

/**
 * Finds the widget of a document: preferably a visible element, then one identified by its frame, then one that a script may render.
 * Null if none has a key. Pure.
 * @param frames URLs of the document's child frames as the browser reports them: scripts cannot see all of them.
 */
export function findWidget({ elements, scripts }: WidgetFacts, frames: readonly string[]): Widget | null {
  const inFrames = frames.flatMap((address) => widgetOfFrame(address) ?? []);
  const marked = elements.flatMap(({ names, key, size, shown }) => {
    const type = typeOf(names, key);
    if (type === null || !KEY.test(key)) return [];
    const rendered = inFrames.find((widget) => widget.siteKey === key);
    const widget: Widget = rendered ?? { type, siteKey: key, invisible: size === 'invisible', enterprise: false };
    return [{ widget, shown }];
  });
  const [first] = [
    ...marked.filter(({ shown }) => shown).map(({ widget }) => widget),
    ...inFrames,
    ...marked.map(({ widget }) => widget),
    ...scripts.flatMap((address) => widgetOfScript(address) ?? []),
  ];
  if (first === undefined) return null;
  // The badges of v3 and of invisible v2 look the same; the script's URL distinguishes them.
  const isV3 = scripts.some((address) => widgetOfScript(address)?.siteKey === first.siteKey);
  return isV3 && first.invisible ? { ...first, type: 'recaptcha_v3', invisible: false } : first;
}

/** By the class that vendors require on the element, else by the format of the key. */
function typeOf(names: string, key: string): WidgetType | null {
  if (/\bcf-turnstile\b/.test(names)) return 'turnstile';
  if (/\bh-captcha\b/.test(names)) return 'hcaptcha';
  if (/\bg-recaptcha\b/.test(names) || key.startsWith('6L')) return 'recaptcha_v2';
  if (TURNSTILE_KEY.test(key)) return 'turnstile';
  return UUID.test(key) ? 'hcaptcha' : null;
}

function widgetOfFrame(address: string): Widget | null {
  if (!URL.canParse(address)) return null;
  const { hostname: host, pathname: path, searchParams: query, hash } = new URL(address);
  if (isReCaptcha(host)) {
    const edition = /^\/recaptcha\/(api2|enterprise)\/(?:anchor|bframe)$/.exec(path)?.[1];
    if (edition === undefined) return null;
    const invisible = query.get('size') === 'invisible';
    return made('recaptcha_v2', query.get('k'), { invisible, enterprise: edition === 'enterprise' });
  }
  if (isWithin(host, 'hcaptcha.com'))
    return made('hcaptcha', query.get('sitekey') ?? new URLSearchParams(hash.slice(1)).get('sitekey'));
  if (host === 'challenges.cloudflare.com')
    return made('turnstile', path.split('/').find((part) => TURNSTILE_KEY.test(part)) ?? null);
  return null;
}

/** The script of reCAPTCHA v3 is loaded for one key. */
function widgetOfScript(address: string): Widget | null {
  if (!URL.canParse(address)) return null;
  const { hostname: host, pathname: path, searchParams: query } = new URL(address);
  const key = query.get('render');
  if (!isReCaptcha(host) || key === 'explicit' || key === 'onload') return null;
  return made('recaptcha_v3', key, { enterprise: path.endsWith('/enterprise.js') });
}

function made(type: WidgetType, siteKey: string | null, more: Partial<Widget> = {}): Widget | null {
  if (siteKey === null || !KEY.test(siteKey)) return null;
  return { type, siteKey, invisible: false, enterprise: false, ...more };
}

function isReCaptcha(host: string): boolean {
  return isWithin(host, 'google.com') || isWithin(host, 'recaptcha.net');
}
