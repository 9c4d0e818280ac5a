import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { z } from 'zod';
import { Authenticators } from './authenticators.ts';
import { SentMessages } from './sent-messages.ts';
import { findUser, SANDBOX_USERS, type SandboxUser } from './users.ts';

/** How the whole site behaves: as it should, answering 503, answering nonsense, or answering late. */
export type SiteMode = 'ok' | 'down' | 'nonsense' | 'slow';

/** How a new authenticator's key is shown: as text, or as a QR code alone, drawn in one of three ways. */
export type KeyShown = 'text' | 'img' | 'canvas' | 'svg';

/**
 * How `/login` looks: as ever, with its fields under other names, or with the password on a page of its own; or as ever, with a page
 * behind the password that leads nowhere.
 */
export type LoginLayout = 'usual' | 'renamed' | 'steps' | 'dead_end';

/**
 * What a mailed link does: it lets the page that waits go on, wherever it is opened (`there`), or signs in the browser that opens it,
 * which must be the one in which the login began (`here`).
 */
export type LinkOpens = 'there' | 'here';

/** Whether the page of a mailed link waits for a press before it does that, as sites do against programs that look at links. */
export type LinkPress = 'none' | 'button';

/**
 * How the captcha beside the fields of `/login/captcha-beside` behaves: a box to tick; one whose key is not on the page, so that no solver
 * can be asked; one that comes up while the password is typed, or after a first try; one that answers itself, in sight or (as it is
 * sent) out of it; or a box to tick in a frame, with the form.
 */
export const CAPTCHAS_BESIDE = ['tick', 'keyless', 'typed', 'later', 'itself', 'unseen', 'framed'] as const;
export type CaptchaBeside = (typeof CAPTCHAS_BESIDE)[number];

/** What a site says instead of taking even a right password. */
const COMPLAINTS = {
  locked: 'Your account has been locked. Contact support to unlock it.',
  attempts: 'Too many attempts. Try again in 30 minutes.',
} as const;

/** Why a user cannot sign in, whatever the password. */
export type LockOut = keyof typeof COMPLAINTS;

/** A login that has begun and is not finished; it lives in memory only, like its codes. */
export interface Pending {
  readonly user: string;
  readonly page: string;
  readonly passwordGiven: boolean;
  /** Set when the person agreed on another device (a push, a link in a mail). */
  approved: boolean;
  /** How a second factor was asked for. */
  method?: 'sms' | 'totp' | 'email';
}

/** What was posted to the login pages for one user. It never holds what was typed. */
export interface LoginLog {
  posts: number;
  passwords: number;
  codes: number;
  accepted: number;
  refused: number;
  by_page: Record<string, number>;
}

/** Counters that `GET /test/log` answers with. `identifier` posts carry no secret, the other two do. */
export type LoginPost = 'identifier' | 'password' | 'code';

const SitePasskey = z.object({
  id: z.string(),
  user: z.string(),
  /** Base64url. */
  publicKey: z.string(),
  /** Signatures that the site has seen. */
  count: z.int(),
});
/** A passkey as the site knows it: nothing of it is secret. */
export type SitePasskey = z.infer<typeof SitePasskey>;

const Saved = z.object({
  sessions: z.record(z.string(), z.string()),
  passwords: z.record(z.string(), z.string()),
  passkeys: z.array(SitePasskey).default([]),
});

/**
 * All that the site remembers. With `stateFile`, sessions and changed passwords survive a restart; they are kept there as
 * hashes, so that a search of the disk for a cookie or a password finds nothing.
 */
export class SiteState {
  readonly #stateFile: string | undefined;
  #sessions = new Map<string, string>();
  #passwords = new Map<string, string>();
  #pending = new Map<string, Pending>();
  #logs = new Map<string, LoginLog>();
  #passkeys = new Map<string, SitePasskey>();
  #challenges = new Map<string, string>();
  #lockedOut = new Map<string, LockOut>();
  #otherAccounts = new Map<string, string>();
  readonly messages = new SentMessages();
  readonly authenticators = new Authenticators();
  mode: SiteMode = 'ok';
  layout: LoginLayout = 'usual';
  keyShown: KeyShown = 'text';
  captchaBeside: CaptchaBeside = 'tick';
  linkOpens: LinkOpens = 'there';
  linkPress: LinkPress = 'none';
  /** Milliseconds that every page waits in mode `slow`. */
  slowMs = 5_000;

  constructor(stateFile?: string) {
    this.#stateFile = stateFile;
    if (stateFile && existsSync(stateFile)) this.#load(stateFile);
    for (const user of SANDBOX_USERS) {
      if (!this.#passwords.has(user.username)) this.#passwords.set(user.username, hash(user.password));
    }
  }

  /** Starts a session and answers its cookie value. */
  openSession(username: string): string {
    const id = randomId();
    this.#sessions.set(hash(id), this.#otherAccounts.get(username) ?? username);
    this.#save();
    return id;
  }

  /** Has a user's logins end in another user's account, or in the user's own again. */
  leadElsewhere(username: string, to: string | null): void {
    if (to === null) this.#otherAccounts.delete(username);
    else this.#otherAccounts.set(username, to);
  }

  /** The signed-in user of a cookie value, if the session is alive. */
  sessionUser(cookie: string | undefined): SandboxUser | undefined {
    if (!cookie) return undefined;
    const username = this.#sessions.get(hash(cookie));
    return SANDBOX_USERS.find((user) => user.username === username);
  }

  closeSession(cookie: string | undefined): void {
    if (cookie && this.#sessions.delete(hash(cookie))) this.#save();
  }

  /** Ends every session of a user and answers how many there were. */
  expire(username: string): number {
    const ids = [...this.#sessions].filter(([, owner]) => owner === username).map(([id]) => id);
    for (const id of ids) this.#sessions.delete(id);
    if (ids.length > 0) this.#save();
    return ids.length;
  }

  passwordMatches(username: string, password: string): boolean {
    const stored = this.#passwords.get(username);
    if (this.#lockedOut.has(username)) return false;
    return stored !== undefined && timingSafeEqual(Buffer.from(stored), Buffer.from(hash(password)));
  }

  /** Locks a user out, or lets one in again. */
  lockOut(username: string, why: LockOut | null): void {
    if (why === null) this.#lockedOut.delete(username);
    else this.#lockedOut.set(username, why);
  }

  /** What is said to a user who is locked out, by any of their names. */
  complaintOf(identifier: string): string | undefined {
    const why = this.#lockedOut.get(findUser(identifier)?.username ?? '');
    return why === undefined ? undefined : COMPLAINTS[why];
  }

  setPassword(username: string, password: string): void {
    this.#passwords.set(username, hash(password));
    this.#save();
  }

  /** Remembers a login that goes on to another page and answers the value of its cookie. */
  openPending(user: string, page: string, passwordGiven: boolean): string {
    const id = randomId();
    this.#pending.set(id, { user, page, passwordGiven, approved: false });
    return id;
  }

  pending(id: string | undefined): Pending | undefined {
    return id ? this.#pending.get(id) : undefined;
  }

  closePending(id: string | undefined): void {
    if (id) this.#pending.delete(id);
  }

  /** Approves every login of a user that waits for another device; answers how many. */
  approve(username: string): number {
    const waiting = [...this.#pending.values()].filter((each) => each.user === username && !each.approved);
    for (const each of waiting) each.approved = true;
    return waiting.length;
  }

  /** Remembers the challenge of a passkey's ceremony and answers the value of its cookie. */
  openChallenge(challenge: string): string {
    const id = randomId();
    this.#challenges.set(id, challenge);
    return id;
  }

  /** The challenge of a ceremony, once. */
  takeChallenge(id: string | undefined): string | undefined {
    const challenge = id === undefined ? undefined : this.#challenges.get(id);
    if (id !== undefined) this.#challenges.delete(id);
    return challenge;
  }

  /** Adds a passkey, or notes a new count of one. */
  savePasskey(passkey: SitePasskey): void {
    this.#passkeys.set(passkey.id, passkey);
    this.#save();
  }

  passkey(id: string): SitePasskey | undefined {
    return this.#passkeys.get(id);
  }

  passkeysOf(username: string): SitePasskey[] {
    return [...this.#passkeys.values()].filter(({ user }) => user === username);
  }

  /** Counts one login post. `accepted` is undefined while the login goes on to another page. */
  count(username: string, page: string, post: LoginPost, accepted: boolean | undefined): void {
    const log = this.log(username);
    log.posts += 1;
    if (post === 'password') log.passwords += 1;
    if (post === 'code') log.codes += 1;
    if (accepted === true) log.accepted += 1;
    if (accepted === false) log.refused += 1;
    log.by_page[page] = (log.by_page[page] ?? 0) + 1;
    this.#logs.set(username, log);
  }

  log(username: string): LoginLog {
    return (
      this.#logs.get(username) ?? {
        posts: 0,
        passwords: 0,
        codes: 0,
        accepted: 0,
        refused: 0,
        by_page: {},
      }
    );
  }

  /** Back to the first start: no session, the documented passwords, empty logs, mode `ok`. */
  reset(): void {
    for (const map of [this.#lockedOut, this.#otherAccounts, this.#passkeys, this.#challenges]) map.clear();
    for (const map of [this.#sessions, this.#pending, this.#logs]) map.clear();
    this.messages.reset();
    this.authenticators.reset();
    for (const user of SANDBOX_USERS) this.#passwords.set(user.username, hash(user.password));
    this.mode = 'ok';
    this.layout = 'usual';
    this.keyShown = 'text';
    this.captchaBeside = 'tick';
    this.linkOpens = 'there';
    this.linkPress = 'none';
    this.#save();
  }

  #load(stateFile: string): void {
    const saved = Saved.parse(JSON.parse(readFileSync(stateFile, 'utf8')));
    this.#sessions = new Map(Object.entries(saved.sessions));
    this.#passwords = new Map(Object.entries(saved.passwords));
    this.#passkeys = new Map(saved.passkeys.map((passkey) => [passkey.id, passkey]));
  }

  /** Writes beside the file and renames, so that a kill in the middle leaves the old state. */
  #save(): void {
    if (!this.#stateFile) return;
    const saved: z.infer<typeof Saved> = {
      sessions: Object.fromEntries(this.#sessions),
      passwords: Object.fromEntries(this.#passwords),
      passkeys: [...this.#passkeys.values()],
    };
    mkdirSync(dirname(this.#stateFile), { recursive: true, mode: 0o700 });
    writeFileSync(`${this.#stateFile}.new`, JSON.stringify(saved), {
      mode: 0o600,
    });
    renameSync(`${this.#stateFile}.new`, this.#stateFile);
  }
}

function randomId(): string {
  return randomBytes(24).toString('base64url');
}

function hash(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
