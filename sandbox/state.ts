import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { z } from 'zod';
import { Authenticators } from './authenticators.ts';
import { SentMessages } from './sent-messages.ts';
import { findUser, SANDBOX_USERS, type SandboxUser } from './users.ts';

/** How the whole site behaves: normally, with 503s, with nonsense, or slowly. */
export type SiteMode = 'ok' | 'down' | 'nonsense' | 'slow';

/** How a new authenticator's key is shown: as text, or only as a QR code, rendered in one of three ways. */
export type KeyShown = 'text' | 'img' | 'canvas' | 'svg';

/** The layout of `/login`: the default, renamed fields, the password on a second page, or a dead end after the password. */
export type LoginLayout = 'usual' | 'renamed' | 'steps' | 'dead_end';

/**
 * What a mailed link does: it signs in the browser that is waiting, wherever the link is opened (`there`), or the browser that opens
 * it, which must be the one that started the login (`here`).
 */
export type LinkOpens = 'there' | 'here';

/** Whether the page of a mailed link requires a button press, as sites do against link scanners. */
export type LinkPress = 'none' | 'button';

/**
 * How the captcha of `/login/captcha-beside` behaves: a checkbox; one whose site key is not on the page, so that no solver can be used;
 * one that appears while the password is typed, or after a first attempt; one that solves itself, visibly or (on submit) invisibly; or
 * a checkbox in a frame, together with the form.
 */
export const CAPTCHAS_BESIDE = ['tick', 'keyless', 'typed', 'later', 'itself', 'unseen', 'framed'] as const;
export type CaptchaBeside = (typeof CAPTCHAS_BESIDE)[number];

/** Messages for a locked-out user, shown even for the correct password. */
const LOCK_OUT_MESSAGES = {
  locked: 'Your account has been locked. Contact support to unlock it.',
  attempts: 'Too many attempts. Try again in 30 minutes.',
} as const;

/** Why a user is locked out. */
export type LockOut = keyof typeof LOCK_OUT_MESSAGES;

/** An unfinished login. In memory only, like its codes. */
export interface Pending {
  readonly user: string;
  readonly page: string;
  readonly passwordGiven: boolean;
  /** Set when the person approved it elsewhere (a push, a mailed link). */
  approved: boolean;
  /** The chosen second factor. */
  method?: 'sms' | 'totp' | 'email';
}

/** Posts to the login pages by one user, without typed values. */
interface LoginLog {
  posts: number;
  passwords: number;
  codes: number;
  accepted: number;
  refused: number;
  by_page: Record<string, number>;
}

/** The kind of a login post. `identifier` posts contain no secret. */
type LoginPost = 'identifier' | 'password' | 'code';

const SitePasskey = z.object({
  id: z.string(),
  user: z.string(),
  /** Base64url. */
  publicKey: z.string(),
  /** Signature counter. */
  count: z.int(),
});
/** A passkey as stored by the site. Not secret. */
export type SitePasskey = z.infer<typeof SitePasskey>;

const Saved = z.object({
  sessions: z.record(z.string(), z.string()),
  passwords: z.record(z.string(), z.string()),
  passkeys: z.array(SitePasskey).default([]),
});

/** The site's state. With `stateFile`, sessions and changed passwords survive a restart, as hashes. */
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
  /** Delay of every page in mode `slow`, in milliseconds. */
  slowMs = 5_000;

  constructor(stateFile?: string) {
    this.#stateFile = stateFile;
    if (stateFile && existsSync(stateFile)) this.#load(stateFile);
    for (const user of SANDBOX_USERS) {
      if (!this.#passwords.has(user.username)) this.#passwords.set(user.username, hash(user.password));
    }
  }

  /** Starts a session and returns its cookie value. */
  openSession(username: string): string {
    const id = randomId();
    this.#sessions.set(hash(id), this.#otherAccounts.get(username) ?? username);
    this.#save();
    return id;
  }

  /** Makes a user's logins end in another user's account, or in their own again. */
  redirectLoginsTo(username: string, to: string | null): void {
    if (to === null) this.#otherAccounts.delete(username);
    else this.#otherAccounts.set(username, to);
  }

  /** The signed-in user of a cookie value, if the session exists. */
  sessionUser(cookie: string | undefined): SandboxUser | undefined {
    if (!cookie) return undefined;
    const username = this.#sessions.get(hash(cookie));
    return SANDBOX_USERS.find((user) => user.username === username);
  }

  closeSession(cookie: string | undefined): void {
    if (cookie && this.#sessions.delete(hash(cookie))) this.#save();
  }

  /** Ends every session of a user and returns how many there were. */
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

  /** Locks a user out, or unlocks them. */
  lockOut(username: string, why: LockOut | null): void {
    if (why === null) this.#lockedOut.delete(username);
    else this.#lockedOut.set(username, why);
  }

  /** The message for a locked-out user, by user name or e-mail address. */
  lockOutMessage(identifier: string): string | undefined {
    const why = this.#lockedOut.get(findUser(identifier)?.username ?? '');
    return why === undefined ? undefined : LOCK_OUT_MESSAGES[why];
  }

  setPassword(username: string, password: string): void {
    this.#passwords.set(username, hash(password));
    this.#save();
  }

  /** Stores a login that continues on another page and returns its cookie value. */
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

  /** Approves every pending login of a user and returns how many there were. */
  approve(username: string): number {
    const waiting = [...this.#pending.values()].filter((each) => each.user === username && !each.approved);
    for (const each of waiting) each.approved = true;
    return waiting.length;
  }

  /** Stores the challenge of a passkey ceremony and returns its cookie value. */
  openChallenge(challenge: string): string {
    const id = randomId();
    this.#challenges.set(id, challenge);
    return id;
  }

  /** Removes and returns the challenge of a ceremony. */
  takeChallenge(id: string | undefined): string | undefined {
    const challenge = id === undefined ? undefined : this.#challenges.get(id);
    if (id !== undefined) this.#challenges.delete(id);
    return challenge;
  }

  /** Adds a passkey, or updates its counter. */
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

  /** Counts a login post. `accepted` is undefined if the login continues on another page. */
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
    const empty = { posts: 0, passwords: 0, codes: 0, accepted: 0, refused: 0, by_page: {} };
    return this.#logs.get(username) ?? empty;
  }

  /** Restores the initial state: no sessions, the documented passwords, empty logs, mode `ok`. */
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

  /** Writes to a temporary file and renames it, so that a crash leaves the old state. */
  #save(): void {
    if (!this.#stateFile) return;
    const saved: z.infer<typeof Saved> = {
      sessions: Object.fromEntries(this.#sessions),
      passwords: Object.fromEntries(this.#passwords),
      passkeys: [...this.#passkeys.values()],
    };
    mkdirSync(dirname(this.#stateFile), { recursive: true, mode: 0o700 });
    writeFileSync(`${this.#stateFile}.new`, JSON.stringify(saved), { mode: 0o600 });
    renameSync(`${this.#stateFile}.new`, this.#stateFile);
  }
}

function randomId(): string {
  return randomBytes(24).toString('base64url');
}

function hash(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
