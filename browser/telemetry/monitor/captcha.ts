import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { CAPTCHA_TYPES, type CaptchaType, type TelemetryEventData } from '../../../contract/telemetry-events.ts';
import type { EmitFromBrowser, WatchedTarget } from './target.ts';

/** Timeout of an open challenge, in milliseconds: nobody waits longer for a person. */
const CHALLENGE_TIMEOUT_MS = 10 * 60_000;
/** How long after a navigation the old document may still report, in milliseconds. */
const LAST_REPORT_MS = 500;
/** Maximum open challenges, all pages together: a page could show any number. */
const MAX_OPEN = 100;

/** A report of the script about a widget; `failed` comes from a vendor's frame, about the widget it belongs to. */
export const CaptchaReport = z.discriminatedUnion('state', [
  z.object({ kind: z.literal('captcha'), state: z.literal('open'), id: z.int(), type: z.enum(CAPTCHA_TYPES) }),
  z.object({ kind: z.literal('captcha'), state: z.enum(['answered', 'gone']), id: z.int() }),
  z.object({ kind: z.literal('captcha'), state: z.literal('failed'), type: z.enum(CAPTCHA_TYPES) }),
]);
export type CaptchaReport = z.infer<typeof CaptchaReport>;

type Status = TelemetryEventData<'captcha_challenge_result'>['status'];

/** A visible challenge. */
interface Challenge {
  id: string;
  type: CaptchaType;
  /** The session on the target whose frame shows it, and the target of its page. */
  sessionId: string;
  targetId: string;
  website: { website_host: string; website_path: string };
  startedAt: number;
  timer: NodeJS.Timeout;
}

/** Emits the outcome of each challenge that becomes visible. */
interface CaptchaWatch {
  /** Handles a report of the script; `context` identifies the frame within the target. */
  reported(target: WatchedTarget, page: WatchedTarget, context: number, report: CaptchaReport): void;
  /** The target shows a new document: challenges of the old one are abandoned, after its last reports. */
  navigated(target: WatchedTarget): void;
  /** The target is gone: its challenges are abandoned. */
  detached(target: WatchedTarget): void;
  /** The id of the only visible challenge of a type; undefined if there is none, or several. */
  visibleId(type: CaptchaType): string | undefined;
  stop(): void;
}

/** Creates the captcha watch of a monitor. */
export function createCaptchaWatch(emit: EmitFromBrowser): CaptchaWatch {
  const open = new Map<string, Challenge>();
  const end = (key: string, status: Status): void => {
    const challenge = open.get(key);
    if (challenge === undefined) return;
    open.delete(key);
    clearTimeout(challenge.timer);
    emit('captcha_challenge_result', 'Runtime.bindingCalled', {
      captcha_type: challenge.type,
      status,
      challenge_id: challenge.id,
      duration_ms: Math.round(performance.now() - challenge.startedAt),
      ...challenge.website,
    });
  };
  const begin = (key: string, challenge: Pick<Challenge, 'type' | 'sessionId' | 'targetId' | 'website'>): void => {
    const timer = setTimeout(() => end(key, 'timeout'), CHALLENGE_TIMEOUT_MS);
    timer.unref();
    open.set(key, { ...challenge, id: randomUUID(), startedAt: performance.now(), timer });
  };
  /** With several open challenges of one type, an outcome cannot be attributed. */
  const keysOf = (type: CaptchaType, targetId: string): string[] =>
    [...open].filter(([, one]) => one.type === type && one.targetId === targetId).map(([key]) => key);
  const endAll = (matches: (challenge: Challenge) => boolean): void => {
    for (const [key, challenge] of open) if (matches(challenge)) end(key, 'abandoned');
  };

  return {
    reported: ({ sessionId }, page, context, report) => {
      const { targetId } = page;
      if (report.state === 'failed') {
        const [key, ...others] = keysOf(report.type, targetId);
        const failed = open.get(key ?? '');
        if (key === undefined || failed === undefined || others.length > 0) return;
        end(key, 'failure');
        // The vendor asks again, with a new challenge.
        begin(key, failed);
        return;
      }
      const key = `${sessionId} ${context} ${report.id}`;
      const challenge = open.get(key);
      if (report.state === 'open') {
        if (challenge !== undefined || open.size >= MAX_OPEN) return;
        begin(key, { type: report.type, sessionId, targetId, website: websiteOf(page.url) });
      } else if (challenge !== undefined) {
        const isSolved = report.state === 'answered' && keysOf(challenge.type, targetId).length === 1;
        end(key, isSolved ? 'solved' : 'abandoned');
      }
    },
    navigated: ({ sessionId }) => {
      const now = performance.now();
      const isOld = (challenge: Challenge): boolean => challenge.sessionId === sessionId && challenge.startedAt < now;
      if (![...open.values()].some(isOld)) return;
      setTimeout(() => endAll(isOld), LAST_REPORT_MS).unref();
    },
    detached: ({ sessionId }) => endAll((challenge) => challenge.sessionId === sessionId),
    visibleId: (type) => {
      const [only, ...others] = [...open.values()].filter((challenge) => challenge.type === type);
      return others.length > 0 ? undefined : only?.id;
    },
    stop: () => endAll(() => true),
  };
}

/** Host and path of a page, without its query. */
function websiteOf(url: string): Challenge['website'] {
  if (!URL.canParse(url)) return { website_host: '', website_path: '' };
  const { host, pathname, protocol } = new URL(url);
  return /^https?:$/.test(protocol)
    ? { website_host: host, website_path: pathname }
    : { website_host: '', website_path: '' };
}

/**
 * The script that finds widgets of known vendors in a frame, from an isolated world. It reports that a challenge is visible,
 * answered, refused by its vendor (shown in the vendor's frame), or gone; never its answer. reCAPTCHA v3 only shows a badge,
 * which counts as open until it has an answer. The script polls live collections, because observing all mutations would slow
 * down the page.
 */
export const CAPTCHA_SCRIPT = String.raw`(() => {
  const POLL_MS = 250;
  const reportCaptcha = (data) => report({ kind: 'captcha', ...data });
  const frames = document.getElementsByTagName('iframe');
  const turnstiles = document.getElementsByName('cf-turnstile-response');
  const geetests = [document.getElementsByClassName('geetest_captcha'), document.getElementsByClassName('geetest_holder')];
  const badges = document.getElementsByClassName('grecaptcha-badge');
  const open = new Map();
  let last = 0;
  let hasFailed = false;
  const isShown = (element) => {
    const { width, height } = element.getBoundingClientRect();
    return width > 10 && height > 10 && element.checkVisibility({ visibilityProperty: true, opacityProperty: true });
  };
  const isOf = (host, ...domains) => domains.some((domain) => host === domain || host.endsWith('.' + domain));
  const hasValue = (field) => typeof field?.value === 'string' && field.value !== '';
  /** The field for a widget's answer, near the widget. */
  const fieldOf = (element, name) => {
    let at = element.parentElement;
    for (let level = 0; at !== null && level < 5; level += 1, at = at.parentElement) {
      const field = at.querySelector('[name="' + name + '"]');
      if (field !== null) return field;
    }
    return null;
  };
  /** Which part of a widget a frame holds: the checkbox, or the task that may follow it. */
  const partOf = (frame) => {
    if (!URL.canParse(frame.src)) return null;
    const { hostname: host, pathname: path, searchParams, hash } = new URL(frame.src);
    if (isOf(host, 'google.com', 'recaptcha.net')) {
      const [, part] = /^\/recaptcha\/(?:api2|enterprise)\/(anchor|bframe)$/.exec(path) ?? [];
      if (part === undefined || searchParams.get('size') === 'invisible') return null;
      return { type: 'recaptcha_v2', field: 'g-recaptcha-response', task: part === 'bframe' };
    }
    if (isOf(host, 'hcaptcha.com')) {
      const part = new URLSearchParams(hash.slice(1)).get('frame');
      if (part !== 'checkbox' && part !== 'challenge') return null;
      return { type: 'hcaptcha', field: 'h-captcha-response', task: part === 'challenge' };
    }
    if (isOf(host, 'challenges.cloudflare.com')) return { type: 'turnstile', field: 'cf-turnstile-response', task: true };
    if (isOf(host, 'arkoselabs.com', 'funcaptcha.com')) return { type: 'other', field: null, task: false };
    return null;
  };
  /** v3 is loaded with its key; v2 is loaded for explicit or onload rendering. */
  const isScored = () => badges.length > 0 && [...document.scripts].some(({ src }) => {
    if (!URL.canParse(src)) return false;
    const { hostname: host, pathname: path, searchParams } = new URL(src);
    const key = searchParams.get('render');
    return isOf(host, 'google.com', 'recaptcha.net') && path.startsWith('/recaptcha/') && key !== null && !['explicit', 'onload'].includes(key);
  });
  /** Where vendors show that an answer was wrong or could not be checked: in their own frames, GeeTest in the page. */
  const FAILURES = isOf(location.hostname, 'google.com', 'recaptcha.net') && location.pathname.startsWith('/recaptcha/')
    ? ['recaptcha_v2', '.rc-anchor-error-msg, .rc-imageselect-incorrect-response, .rc-audiochallenge-error-message, .rc-doscaptcha-header']
    : isOf(location.hostname, 'hcaptcha.com') ? ['hcaptcha', '.error-text'] : ['geetest', '.geetest_fail, .geetest_panel_error'];
  const checkFailure = () => {
    const [type, selector] = FAILURES;
    const isFailure = [...document.querySelectorAll(selector)].some((element) => isShown(element) && element.textContent.trim() !== '');
    if (isFailure && !hasFailed) reportCaptcha({ state: 'failed', type });
    hasFailed = isFailure;
  };
  const find = () => {
    const found = [];
    const parts = [...frames].flatMap((frame) => ({ frame, ...partOf(frame) })).filter(({ type }) => type !== undefined);
    for (const { frame, type, field, task } of parts) {
      // The task of a widget with a checkbox is not a separate challenge.
      if (task && parts.some((other) => other.type === type && !other.task)) continue;
      const answer = field === null ? null : (fieldOf(frame, field) ?? (task ? document.querySelector('[name="' + field + '"]') : null));
      // Turnstile's frame may be in a closed shadow root, so its field is used where it exists.
      if (type === 'turnstile' && answer !== null) continue;
      found.push({ element: frame, type, answered: hasValue(answer) });
    }
    for (const field of turnstiles) {
      if (field.parentElement !== null) found.push({ element: field.parentElement, type: 'turnstile', answered: hasValue(field) });
    }
    for (const element of geetests.flatMap((list) => [...list])) {
      const solved = /lock_success/.test(element.className) || hasValue(fieldOf(element, 'geetest_validate'));
      found.push({ element, type: 'geetest', answered: solved });
    }
    for (const badge of isScored() ? badges : []) {
      found.push({ element: badge, type: 'recaptcha_v3', answered: hasValue(badge.querySelector('[name="g-recaptcha-response"]')) });
    }
    const press = document.getElementById('px-captcha');
    if (press !== null) found.push({ element: press, type: 'press_and_hold', answered: false });
    return found;
  };
  const check = () => {
    checkFailure();
    const found = find();
    for (const { element, type, answered } of found) {
      const id = open.get(element);
      if (answered && id !== undefined) {
        open.delete(element);
        reportCaptcha({ id, state: 'answered' });
      } else if (!answered && id === undefined && isShown(element)) {
        open.set(element, (last += 1));
        reportCaptcha({ id: last, state: 'open', type });
      }
    }
    for (const [element, id] of open) {
      if (found.some((one) => one.element === element) && isShown(element)) continue;
      open.delete(element);
      reportCaptcha({ id, state: 'gone' });
    }
  };
  setInterval(check, POLL_MS);
  addEventListener('pagehide', () => {
    check();
    for (const id of open.values()) reportCaptcha({ id, state: 'gone' });
    open.clear();
  });
})();`;
