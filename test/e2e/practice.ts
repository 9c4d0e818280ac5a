import { z } from 'zod';
import { SANDBOX_USERS, type SandboxUser } from '../../sandbox/site.ts';
import type { CaptchaBeside } from '../../sandbox/state.ts';

/** Login posts of a user that reached the practice site. */
export interface PostCounts {
  posts: number;
  passwords: number;
  codes: number;
  accepted: number;
  refused: number;
}

/** The practice site: its URLs and its test controls. */
export interface Practice {
  url: string;
  /** `localhost:port`, as `domain` of a connection. */
  domain: string;
  page(path: string): string;
  user(name: string): SandboxUser;
  /** Ends all sessions of a user; returns their number. */
  expire(name: string): Promise<number>;
  setPassword(name: string, password: string): Promise<void>;
  setMode(mode: 'ok' | 'down' | 'nonsense' | 'slow'): Promise<void>;
  /** The last code sent by text message, if any. */
  smsCode(name: string): Promise<string | null>;
  /** The phone number that the last code was sent to. */
  sentTo(name: string): Promise<string | null>;
  /** Locks a user's account; null unlocks it. */
  lock(name: string, why: 'locked' | 'attempts' | null): Promise<void>;
  /** Makes a user's logins end in another user's account; null restores their own. */
  switchAccount(name: string, to: string | null): Promise<void>;
  /** Changes the form at `/login`. */
  setLayout(layout: 'usual' | 'renamed' | 'steps' | 'dead_end'): Promise<void>;
  /** Sets the behavior of the captcha at `/login/captcha-beside`. */
  setCaptcha(beside: CaptchaBeside): Promise<void>;
  /** Sets how the key of a new authenticator is shown. */
  setKeyFormat(key: 'text' | 'img' | 'canvas' | 'svg'): Promise<void>;
  /** Rejects the next `times` authenticator codes, even valid ones. */
  rejectCodes(name: string, times: number): Promise<void>;
  /** Sets the period of a user's authenticator codes. */
  setTotpPeriod(name: string, seconds: number): Promise<void>;
  /** Forwards a user's messages to `url`. */
  deliver(name: string, to: { url: string; secret: string; as?: 'twilio' | 'mailgun'; to?: string }): Promise<void>;
  /** Sets whether a mailed link continues the waiting page (`there`) or signs in the browser that opens it (`here`), and after which click. */
  setMailedLink(opens: 'there' | 'here', press?: 'none' | 'button'): Promise<void>;
  emailCode(name: string): Promise<string | null>;
  /** The last sign-in link mailed. */
  mailedLink(name: string): Promise<string | null>;
  /** Approves the user's pending logins on another device; returns their number. */
  approve(name: string): Promise<number>;
  /** A user's passkeys with their signature counters. */
  passkeys(name: string): Promise<{ id: string; count: number }[]>;
  counts(name: string): Promise<PostCounts>;
  /** Number of a user's posts to one page. */
  postsAt(name: string, path: string): Promise<number>;
  /** Host and port of the practice identity providers, which count as another site. */
  providerDomain: string;
}

/** Connects to the test controls of a running practice site. */
export function createPractice(url: string): Practice {
  const call = async (path: string, body?: Record<string, string>): Promise<Record<string, unknown>> => {
    const response = await fetch(`${url}${path}`, {
      ...(body === undefined
        ? {}
        : { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
    });
    if (!response.ok) throw new Error(`the practice site returned ${response.status} for ${path}`);
    return (await response.json()) as Record<string, unknown>;
  };
  const text = (value: unknown): string | null => (typeof value === 'string' ? value : null);
  return {
    url,
    domain: new URL(url).host,
    page: (path) => `${url}${path}`,
    user: (name) => {
      const found = SANDBOX_USERS.find(({ username }) => username === name);
      if (found === undefined) throw new Error(`no user ${name} on the practice site`);
      return found;
    },
    expire: async (user) => Number((await call('/test/expire', { user })).ended),
    setPassword: async (user, password) => {
      await call(`/test/users/${user}/password`, { password });
    },
    setMode: async (mode) => {
      await call('/test/mode', { mode });
    },
    sentTo: async (user) => text((await call(`/test/sms?user=${user}`)).to),
    lock: async (user, why) => {
      await call('/test/lock', { user, ...(why === null ? {} : { why }) });
    },
    switchAccount: async (user, as) => {
      await call('/test/other-account', { user, ...(as === null ? {} : { as }) });
    },
    deliver: async (user, to) => {
      await call('/test/deliver', { user, ...to });
    },
    setLayout: async (layout) => {
      await call('/test/layout', { layout });
    },
    setMailedLink: async (opens, press = 'none') => {
      await call('/test/mail-link', { opens, press });
    },
    setCaptcha: async (beside) => {
      await call('/test/captcha', { beside });
    },
    setKeyFormat: async (key) => {
      await call('/test/enrolment', { key });
    },
    rejectCodes: async (user, times) => {
      await call('/test/refuse-codes', { user, times: String(times) });
    },
    setTotpPeriod: async (user, seconds) => {
      await call('/test/totp-period', { user, seconds: String(seconds) });
    },
    smsCode: async (user) => text((await call(`/test/sms?user=${user}`)).code),
    emailCode: async (user) => text((await call(`/test/email?user=${user}`)).code),
    mailedLink: async (user) => text((await call(`/test/email?user=${user}`)).link),
    approve: async (user) => Number((await call('/test/approve', { user })).approved),
    passkeys: async (user) =>
      z
        .array(z.object({ id: z.string(), count: z.number() }))
        .parse((await call(`/test/passkeys?user=${user}`)).passkeys),
    counts: async (user) => {
      const log = await call(`/test/log?user=${user}`);
      const number = (name: string): number => Number(log[name]);
      return {
        posts: number('posts'),
        passwords: number('passwords'),
        codes: number('codes'),
        accepted: number('accepted'),
        refused: number('refused'),
      };
    },
    postsAt: async (user, path) => {
      const { by_page: pages } = await call(`/test/log?user=${user}`);
      return Number(new Map(Object.entries(Object(pages) as object)).get(path) ?? 0);
    },
    providerDomain: new URL(url).host.replace('localhost', '127.0.0.1'),
  };
}
