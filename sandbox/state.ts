import { createHash, randomBytes, randomInt, timingSafeEqual } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { Secret, TOTP } from 'otpauth';
import { deliver, type Delivery, type SentMessage } from './deliver.ts';
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

/** How long a code of an authenticator stands at most sites (RFC 6238), in seconds. */
const USUAL_PERIOD_S = 30;
/** Seconds that the clock of an authenticator may be off. */
const TOLERANCE_S = 30;

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

/** A passkey as the site knows it: nothing of it is secret. */
export interface SitePasskey {
  readonly id: string;
  readonly user: string;
  /** Base64url. */
  readonly publicKey: string;
  /** Signatures that the site has seen. */
  count: number;
}

interface Saved {
  sessions: Record<string, string>;
  passwords: Record<string, string>;
  passkeys?: SitePasskey[];
}

/**
 * All that the site remembers. With `stateFile`, sessions and changed passwords survive a restart; they are kept there as
 * hashes, so that a search of the disk for a cookie or a password finds nothing.
 */
export class SiteState {
  readonly #stateFile: string | undefined;
  #sessions = new Map<string, string>();
  #passwords = new Map<string, string>();
  #pending = new Map<string, Pending>();
  #smsCodes = new Map<string, string>();
  #emailCodes = new Map<string, string>();
  #emailLinks = new Map<string, string>();
  #logs = new Map<string, LoginLog>();
  #passkeys = new Map<string, SitePasskey>();
  #challenges = new Map<string, string>();
  #usedTotp = new Map<string, string>();
  #totpPeriods = new Map<string, number>();
  #lockedOut = new Map<string, LockOut>();
  #codesToRefuse = new Map<string, number>();
  #sentTo = new Map<string, string>();
  #authenticators = new Map<string, { secret: string; enrolled: boolean }>();
  #otherAccounts = new Map<string, string>();
  #deliveries = new Map<string, Delivery>();
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

  /** Has the site refuse a user's next authenticator codes, right ones too. */
  refuseCodes(username: string, times: number): void {
    this.#codesToRefuse.set(username, times);
  }

  /** True for a code that an authenticator with this secret shows now, or a moment before or after; each is taken once. */
  takesTotp(username: string, secret: string, code: string): boolean {
    const period = this.totpPeriodOf(username);
    const totp = new TOTP({ secret: Secret.fromBase32(secret), period });
    const token = code.replace(/\s/g, '');
    const right = totp.validate({ token, window: Math.ceil(TOLERANCE_S / period) }) !== null;
    return right && this.firstUseOfTotp(username, token);
  }

  /** Seconds that a code of a user's authenticator stands. */
  totpPeriodOf(username: string): number {
    return this.#totpPeriods.get(username) ?? USUAL_PERIOD_S;
  }

  setTotpPeriod(username: string, seconds: number): void {
    this.#totpPeriods.set(username, seconds);
  }

  /** True, once for each of them. */
  refusesCode(username: string): boolean {
    const left = this.#codesToRefuse.get(username) ?? 0;
    this.#codesToRefuse.set(username, Math.max(0, left - 1));
    return left > 0;
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

  /** Makes a new code, as if a message went out; the one before it is void. */
  sendCode(channel: 'sms' | 'email', username: string, to?: string): void {
    if (to !== undefined) this.#sentTo.set(username, to);
    const code = randomInt(0, 1_000_000).toString().padStart(6, '0');
    (channel === 'sms' ? this.#smsCodes : this.#emailCodes).set(username, code);
    this.#handOn(username, { text: `${code} is your Sandbox code. It expires in 10 minutes. © 2026 Sandbox` });
  }

  /** Has a user's messages posted somewhere as they are sent, or (null) kept for the levers alone. */
  deliverTo(username: string, delivery: Delivery | null): void {
    if (delivery === null) this.#deliveries.delete(username);
    else this.#deliveries.set(username, delivery);
  }

  #handOn(username: string, message: SentMessage): void {
    const delivery = this.#deliveries.get(username);
    if (delivery !== undefined) void deliver(delivery, message);
  }

  code(channel: 'sms' | 'email', username: string): string | undefined {
    return (channel === 'sms' ? this.#smsCodes : this.#emailCodes).get(username);
  }

  /** The phone that the last code went to, where the person had a choice. */
  sentTo(username: string): string | undefined {
    return this.#sentTo.get(username);
  }

  /** True once per code: a code that was accepted is void. */
  redeemCode(channel: 'sms' | 'email', username: string, code: string): boolean {
    if (this.code(channel, username) !== code) return false;
    (channel === 'sms' ? this.#smsCodes : this.#emailCodes).delete(username);
    return true;
  }

  /** A good site takes a TOTP code once. */
  firstUseOfTotp(username: string, code: string): boolean {
    if (this.#usedTotp.get(username) === code) return false;
    this.#usedTotp.set(username, code);
    return true;
  }

  /** Mails a sign-in link for a login that waits; `write` makes the mail of its secret part. */
  mailLink(username: string, pendingId: string, write: (token: string) => SentMessage): void {
    const token = randomId();
    this.#emailLinks.set(token, pendingId);
    this.#emailLinks.set(`last:${username}`, token);
    this.#handOn(username, write(token));
  }

  lastMailedToken(username: string): string | undefined {
    return this.#emailLinks.get(`last:${username}`);
  }

  /** The value of the cookie of the login that a mailed link belongs to. */
  mailedFor(token: string): string | undefined {
    return this.#emailLinks.get(token);
  }

  /** Redeems a mailed link, once; answers the login that waits for it. */
  redeemLink(token: string): Pending | undefined {
    const waiting = this.pending(this.#emailLinks.get(token));
    this.#emailLinks.delete(token);
    return waiting;
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

  /** The secret that the site offers a user who has no authenticator there yet: the same until it is set up. */
  offeredSecret(username: string): string {
    const secret = this.#authenticators.get(username)?.secret ?? new Secret({ size: 20 }).base32;
    this.#authenticators.set(username, { secret, enrolled: this.isEnrolled(username) });
    return secret;
  }

  isEnrolled(username: string): boolean {
    return this.#authenticators.get(username)?.enrolled === true;
  }

  /** True for a right code, which sets the offered authenticator up. */
  enrol(username: string, code: string): boolean {
    const secret = this.offeredSecret(username);
    const taken = this.takesTotp(username, secret, code);
    if (taken) this.#authenticators.set(username, { secret, enrolled: true });
    return taken;
  }

  /** Back to the first start: no session, the documented passwords, empty logs, mode `ok`. */
  reset(): void {
    for (const map of [this.#lockedOut, this.#codesToRefuse, this.#sentTo, this.#otherAccounts]) map.clear();
    for (const map of [this.#passkeys, this.#challenges, this.#deliveries]) map.clear();
    for (const map of [this.#sessions, this.#pending, this.#smsCodes, this.#emailCodes, this.#emailLinks, this.#logs]) {
      map.clear();
    }
    this.#usedTotp.clear();
    this.#totpPeriods.clear();
    this.#authenticators.clear();
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
    const saved = JSON.parse(readFileSync(stateFile, 'utf8')) as Saved;
    this.#sessions = new Map(Object.entries(saved.sessions));
    this.#passwords = new Map(Object.entries(saved.passwords));
    this.#passkeys = new Map(saved.passkeys?.map((passkey) => [passkey.id, passkey]));
  }

  /** Writes beside the file and renames, so that a kill in the middle leaves the old state. */
  #save(): void {
    if (!this.#stateFile) return;
    const saved: Saved = {
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
