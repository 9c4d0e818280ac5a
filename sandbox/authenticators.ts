import { Secret, TOTP } from 'otpauth';

/** How long a code of an authenticator stands at most sites (RFC 6238), in seconds. */
const USUAL_PERIOD_S = 30;
/** Seconds that the clock of an authenticator may be off. */
const TOLERANCE_S = 30;

/** The authenticators of the site's users, and how it takes their codes; in memory only. */
export class Authenticators {
  #used = new Map<string, string>();
  #periods = new Map<string, number>();
  #codesToRefuse = new Map<string, number>();
  #offered = new Map<string, { secret: string; enrolled: boolean }>();

  /** Has the site refuse a user's next authenticator codes, right ones too. */
  refuseCodes(username: string, times: number): void {
    this.#codesToRefuse.set(username, times);
  }

  /** True for a code that an authenticator with this secret shows now, or a moment before or after; each is taken once. */
  takes(username: string, secret: string, code: string): boolean {
    const period = this.periodOf(username);
    const totp = new TOTP({ secret: Secret.fromBase32(secret), period });
    const token = code.replace(/\s/g, '');
    const right = totp.validate({ token, window: Math.ceil(TOLERANCE_S / period) }) !== null;
    return right && this.#isFirstUse(username, token);
  }

  /** Seconds that a code of a user's authenticator stands. */
  periodOf(username: string): number {
    return this.#periods.get(username) ?? USUAL_PERIOD_S;
  }

  setPeriod(username: string, seconds: number): void {
    this.#periods.set(username, seconds);
  }

  /** True, once for each of them. */
  refusesCode(username: string): boolean {
    const left = this.#codesToRefuse.get(username) ?? 0;
    this.#codesToRefuse.set(username, Math.max(0, left - 1));
    return left > 0;
  }

  /** The secret that the site offers a user who has no authenticator there yet: the same until it is set up. */
  offeredSecret(username: string): string {
    const secret = this.#offered.get(username)?.secret ?? new Secret({ size: 20 }).base32;
    this.#offered.set(username, { secret, enrolled: this.isEnrolled(username) });
    return secret;
  }

  isEnrolled(username: string): boolean {
    return this.#offered.get(username)?.enrolled === true;
  }

  /** True for a right code, which sets the offered authenticator up. */
  enrol(username: string, code: string): boolean {
    const secret = this.offeredSecret(username);
    const taken = this.takes(username, secret, code);
    if (taken) this.#offered.set(username, { secret, enrolled: true });
    return taken;
  }

  /** A good site takes a code once. */
  #isFirstUse(username: string, code: string): boolean {
    if (this.#used.get(username) === code) return false;
    this.#used.set(username, code);
    return true;
  }

  /** Forgets all of them. */
  reset(): void {
    for (const map of [this.#used, this.#periods, this.#codesToRefuse]) map.clear();
    this.#offered.clear();
  }
}
