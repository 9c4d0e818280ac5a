import { z } from 'zod';
import { SANDBOX_USERS, type SandboxUser } from '../../sandbox/site.ts';
import type { CaptchaBeside } from '../../sandbox/state.ts';

/** How many login posts of a user arrived at the practice site. */
export interface PostCounts {
  posts: number;
  passwords: number;
  codes: number;
  accepted: number;
  refused: number;
}

/** The practice site as tests use it: its addresses and its levers. */
export interface Practice {
  url: string;
  /** `localhost:port`, as `domain` of a connection. */
  domain: string;
  page(path: string): string;
  user(name: string): SandboxUser;
  /** Ends every session of a user; answers how many there were. */
  expire(name: string): Promise<number>;
  setPassword(name: string, password: string): Promise<void>;
  setMode(mode: 'ok' | 'down' | 'nonsense' | 'slow'): Promise<void>;
  /** The last code sent; null when none was. */
  smsCode(name: string): Promise<string | null>;
  /** The phone that the last code went to. */
  sentTo(name: string): Promise<string | null>;
  /** Locks a user out, or lets one in again (null). */
  lock(name: string, why: 'locked' | 'attempts' | null): Promise<void>;
  /** Has a user's logins end in another user's account, or in their own again (null). */
  leadElsewhere(name: string, to: string | null): Promise<void>;
  /** Changes how `/login` looks. */
  setLayout(layout: 'usual' | 'renamed' | 'steps' | 'dead_end'): Promise<void>;
  /** How the captcha of `/login/captcha-beside` behaves. */
  setCaptcha(beside: CaptchaBeside): Promise<void>;
  /** How the key of a new authenticator is shown. */
  showKey(key: 'text' | 'img' | 'canvas' | 'svg'): Promise<void>;
  /** Has so many authenticator codes refused, right ones too. */
  refuseCodes(name: string, times: number): Promise<void>;
  /** How long each code of a user's authenticator stands, in seconds. */
  setTotpPeriod(name: string, seconds: number): Promise<void>;
  /** Has a user's messages posted to `url` as they are sent. */
  deliver(name: string, to: { url: string; secret: string; as?: 'twilio' | 'mailgun'; to?: string }): Promise<void>;
  /** What a mailed link does: it lets the page that waits go on, or signs in the browser that opens it; and after which press. */
  setLinkOpens(opens: 'there' | 'here', press?: 'none' | 'button'): Promise<void>;
  emailCode(name: string): Promise<string | null>;
  /** The last sign-in link mailed. */
  mailedLink(name: string): Promise<string | null>;
  /** The person agrees on another device; answers how many logins waited for it. */
  approve(name: string): Promise<number>;
  /** A user's passkeys, and how often each has signed. */
  passkeys(name: string): Promise<{ id: string; count: number }[]>;
  counts(name: string): Promise<PostCounts>;
  /** How many posts of a user arrived at one page. */
  postsAt(name: string, path: string): Promise<number>;
  /** Host and port of the practice identity providers, which are another site. */
  providerDomain: string;
}

/** Makes the levers of a running practice site. */
export function createPractice(url: string): Practice {
  const ask = async (path: string, body?: Record<string, string>): Promise<Record<string, unknown>> => {
    const answer = await fetch(`${url}${path}`, {
      ...(body === undefined
        ? {}
        : { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
    });
    if (!answer.ok) throw new Error(`the practice site answered ${answer.status} to ${path}`);
    return (await answer.json()) as Record<string, unknown>;
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
    expire: async (user) => Number((await ask('/test/expire', { user })).ended),
    setPassword: async (user, password) => {
      await ask(`/test/users/${user}/password`, { password });
    },
    setMode: async (mode) => {
      await ask('/test/mode', { mode });
    },
    sentTo: async (user) => text((await ask(`/test/sms?user=${user}`)).to),
    lock: async (user, why) => {
      await ask('/test/lock', { user, ...(why === null ? {} : { why }) });
    },
    leadElsewhere: async (user, as) => {
      await ask('/test/other-account', { user, ...(as === null ? {} : { as }) });
    },
    deliver: async (user, to) => {
      await ask('/test/deliver', { user, ...to });
    },
    setLayout: async (layout) => {
      await ask('/test/layout', { layout });
    },
    setLinkOpens: async (opens, press = 'none') => {
      await ask('/test/mail-link', { opens, press });
    },
    setCaptcha: async (beside) => {
      await ask('/test/captcha', { beside });
    },
    showKey: async (key) => {
      await ask('/test/enrolment', { key });
    },
    refuseCodes: async (user, times) => {
      await ask('/test/refuse-codes', { user, times: String(times) });
    },
    setTotpPeriod: async (user, seconds) => {
      await ask('/test/totp-period', { user, seconds: String(seconds) });
    },
    smsCode: async (user) => text((await ask(`/test/sms?user=${user}`)).code),
    emailCode: async (user) => text((await ask(`/test/email?user=${user}`)).code),
    mailedLink: async (user) => text((await ask(`/test/email?user=${user}`)).link),
    approve: async (user) => Number((await ask('/test/approve', { user })).approved),
    passkeys: async (user) =>
      z
        .array(z.object({ id: z.string(), count: z.number() }))
        .parse((await ask(`/test/passkeys?user=${user}`)).passkeys),
    counts: async (user) => {
      const log = await ask(`/test/log?user=${user}`);
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
      const { by_page: pages } = await ask(`/test/log?user=${user}`);
      return Number(new Map(Object.entries(Object(pages) as object)).get(path) ?? 0);
    },
    providerDomain: new URL(url).host.replace('localhost', '127.0.0.1'),
  };
}
