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

/** What the script says of one widget. */
export const CaptchaReport = z.object({
  kind: z.literal('captcha'),
  id: z.int(),
  state: z.enum(['open', 'answered', 'gone']),
  type: z.enum(CAPTCHA_TYPES).optional(),
});
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
  /** An answer beside several open challenges of one vendor cannot be told to belong to either. */
  const isAlone = ({ type, targetId }: Challenge): boolean =>
    [...open.values()].filter((other) => other.type === type && other.targetId === targetId).length === 1;
  const endAll = (matches: (challenge: Challenge) => boolean): void => {
    for (const [key, challenge] of open) if (matches(challenge)) end(key, 'abandoned');
  };

  return {
    told: ({ sessionId }, page, context, { id, state, type }) => {
      const key = `${sessionId} ${context} ${id}`;
      const challenge = open.get(key);
      if (state === 'open' && type !== undefined && challenge === undefined && open.size < MAX_OPEN) {
        const timer = setTimeout(() => {
          end(key, 'timeout');
        }, BUDGET_MS);
        timer.unref();
        const since = performance.now();
        const { targetId } = page;
        open.set(key, { id: randomUUID(), type, sessionId, targetId, website: websiteOf(page.url), since, timer });
      }
      if (challenge === undefined) return;
      if (state === 'answered') end(key, isAlone(challenge) ? 'solved' : 'abandoned');
      if (state === 'gone') end(key, 'abandoned');
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
