import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { CaptchaType, TelemetryEventData } from '../../../contract/telemetry-events.ts';
import { CAPTCHA_TYPES } from '../../../contract/telemetry-events.ts';
import type { EmitFromBrowser, WatchedTarget } from './target.ts';

/** How long a challenge may stand before it is told as timed out, in milliseconds: nobody waits longer for a person. */
const BUDGET_MS = 10 * 60_000;
/** How long after a navigation the old document may still have something to say, in milliseconds. */
const LAST_WORD_MS = 500;
/** Challenges that are followed at a time, all pages together: a page could show any number. */
const MAX_OPEN = 100;

/** What the script says of one widget, or of whatever widget its vendor's frame belongs to. */
export const CaptchaReport = z.discriminatedUnion('state', [
  z.object({ kind: z.literal('captcha'), state: z.literal('open'), id: z.int(), type: z.enum(CAPTCHA_TYPES) }),
  z.object({ kind: z.literal('captcha'), state: z.enum(['answered', 'gone']), id: z.int() }),
  z.object({ kind: z.literal('captcha'), state: z.literal('failed'), type: z.enum(CAPTCHA_TYPES) }),
]);
export type CaptchaReport = z.infer<typeof CaptchaReport>;

type Status = TelemetryEventData<'captcha_challenge_result'>['status'];

/** A challenge that can be seen. */
interface Challenge {
  id: string;
  type: CaptchaType;
  /** Session on the target whose frame shows it, and the page that this belongs to. */
  sessionId: string;
  targetId: string;
  website: { website_host: string; website_path: string };
  since: number;
  timer: NodeJS.Timeout;
}

/** Tells how each challenge that comes into sight ends. */
export interface CaptchaWatch {
  /** `context` tells the frames of one target apart. */
  told(target: WatchedTarget, page: WatchedTarget, context: number, said: CaptchaReport): void;
  /** The target shows another document: what the one before it showed is over, once it has had its last word. */
  left(target: WatchedTarget): void;
  /** What belongs to a target that is gone is over. */
  gone(target: WatchedTarget): void;
  /** The id of the challenge of a kind that can be seen; undefined where none, or several, can. */
  openOf(type: CaptchaType): string | undefined;
  stop(): void;
}

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
      duration_ms: Math.round(performance.now() - challenge.since),
      ...challenge.website,
    });
  };
  const begin = (key: string, challenge: Pick<Challenge, 'type' | 'sessionId' | 'targetId' | 'website'>): void => {
    const timer = setTimeout(() => {
      end(key, 'timeout');
    }, BUDGET_MS);
    timer.unref();
    open.set(key, { ...challenge, id: randomUUID(), since: performance.now(), timer });
  };
  /** An outcome beside several open challenges of one vendor cannot be told to belong to either. */
  const keysOf = (type: CaptchaType, targetId: string): string[] =>
    [...open].filter(([, one]) => one.type === type && one.targetId === targetId).map(([key]) => key);
  const endAll = (matches: (challenge: Challenge) => boolean): void => {
    for (const [key, challenge] of open) if (matches(challenge)) end(key, 'abandoned');
  };

  return {
    told: ({ sessionId }, page, context, said) => {
      const { targetId } = page;
      if (said.state === 'failed') {
        const [key, ...others] = keysOf(said.type, targetId);
        const failed = open.get(key ?? '');
        if (key === undefined || failed === undefined || others.length > 0) return;
        end(key, 'failure');
        // Its vendor asks again: what stands there now is another challenge.
        begin(key, failed);
        return;
      }
      const key = `${sessionId} ${context} ${said.id}`;
      const challenge = open.get(key);
      if (said.state === 'open') {
        if (challenge !== undefined || open.size >= MAX_OPEN) return;
        begin(key, { type: said.type, sessionId, targetId, website: websiteOf(page.url) });
      } else if (challenge !== undefined) {
        const isSolved = said.state === 'answered' && keysOf(challenge.type, targetId).length === 1;
        end(key, isSolved ? 'solved' : 'abandoned');
      }
    },
    left: ({ sessionId }) => {
      const now = performance.now();
      const ofBefore = (challenge: Challenge): boolean => challenge.sessionId === sessionId && challenge.since < now;
      if (![...open.values()].some(ofBefore)) return;
      setTimeout(() => {
        endAll(ofBefore);
      }, LAST_WORD_MS).unref();
    },
    gone: ({ sessionId }) => {
      endAll((challenge) => challenge.sessionId === sessionId);
    },
    openOf: (type) => {
      const [only, ...others] = [...open.values()].filter((challenge) => challenge.type === type);
      return others.length > 0 ? undefined : only?.id;
    },
    stop: () => {
      endAll(() => true);
    },
  };
}

/** Host and path of a page; never its query. */
function websiteOf(url: string): Challenge['website'] {
  if (!URL.canParse(url)) return { website_host: '', website_path: '' };
  const { host, pathname, protocol } = new URL(url);
  return /^https?:$/.test(protocol)
    ? { website_host: host, website_path: pathname }
    : { website_host: '', website_path: '' };
}

/**
 * The script that looks for the widgets of the known vendors in a frame, from a world of its own. It tells that a
 * challenge can be seen, that its answer is there, that its vendor refused an answer (which the vendor's own frame shows), or
 * that it has gone; never what the answer is. reCAPTCHA v3 shows no more than a badge: it counts while that has no answer. It looks by timer at lists
 * that the browser keeps anyway: watching every change of a page would cost the page.
 */
export const CAPTCHA_SCRIPT = String.raw`(() => {
  const LOOK_MS = 250;
  const say = (said) => tell({ kind: 'captcha', ...said });
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
  /** The field that a widget puts its answer into is in the widget's own part of the page. */
  const fieldOf = (element, name) => {
    let at = element.parentElement;
    for (let level = 0; at !== null && level < 5; level += 1, at = at.parentElement) {
      const field = at.querySelector('[name="' + name + '"]');
      if (field !== null) return field;
    }
    return null;
  };
  /** Which part of whose widget a frame holds: a box to tick, or the task that may follow it. */
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
  /** v3 is loaded for one key; v2 says that it is to be drawn, where and when the page wants. */
  const isScored = () => badges.length > 0 && [...document.scripts].some(({ src }) => {
    if (!URL.canParse(src)) return false;
    const { hostname: host, pathname: path, searchParams } = new URL(src);
    const key = searchParams.get('render');
    return isOf(host, 'google.com', 'recaptcha.net') && path.startsWith('/recaptcha/') && key !== null && !['explicit', 'onload'].includes(key);
  });
  /** Where vendors say that an answer was wrong or could not be judged: in their own frames, GeeTest in the page. */
  const FAILURES = isOf(location.hostname, 'google.com', 'recaptcha.net') && location.pathname.startsWith('/recaptcha/')
    ? ['recaptcha_v2', '.rc-anchor-error-msg, .rc-imageselect-incorrect-response, .rc-audiochallenge-error-message, .rc-doscaptcha-header']
    : isOf(location.hostname, 'hcaptcha.com') ? ['hcaptcha', '.error-text'] : ['geetest', '.geetest_fail, .geetest_panel_error'];
  const lookForFailure = () => {
    const [type, selector] = FAILURES;
    const isFailure = [...document.querySelectorAll(selector)].some((element) => isShown(element) && element.textContent.trim() !== '');
    if (isFailure && !hasFailed) say({ state: 'failed', type });
    hasFailed = isFailure;
  };
  const find = () => {
    const found = [];
    const parts = [...frames].flatMap((frame) => ({ frame, ...partOf(frame) })).filter(({ type }) => type !== undefined);
    for (const { frame, type, field, task } of parts) {
      // The task of a widget that has a box is not a challenge of its own.
      if (task && parts.some((other) => other.type === type && !other.task)) continue;
      const answer = field === null ? null : (fieldOf(frame, field) ?? (task ? document.querySelector('[name="' + field + '"]') : null));
      // Turnstile's frame may be out of sight of scripts; where its field is there, that stands for it.
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
  const look = () => {
    lookForFailure();
    const found = find();
    for (const { element, type, answered } of found) {
      const id = open.get(element);
      if (answered && id !== undefined) {
        open.delete(element);
        say({ id, state: 'answered' });
      } else if (!answered && id === undefined && isShown(element)) {
        open.set(element, (last += 1));
        say({ id: last, state: 'open', type });
      }
    }
    for (const [element, id] of open) {
      if (found.some((one) => one.element === element) && isShown(element)) continue;
      open.delete(element);
      say({ id, state: 'gone' });
    }
  };
  setInterval(look, LOOK_MS);
  addEventListener('pagehide', () => {
    look();
    for (const id of open.values()) say({ id, state: 'gone' });
    open.clear();
  });
})();`;
