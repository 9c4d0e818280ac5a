import { Secret, TOTP } from 'otpauth';

/** Default TOTP period (RFC 6238), in seconds. */
const DEFAULT_PERIOD_S = 30;
/** Tolerated clock skew, in seconds. */
const TOLERANCE_S = 30;

/** The users' authenticators and the verification of their codes. In memory only. */
export class Authenticators {
  #used = new Map<string, string>();
  #periods = new Map<string, number>();
  #codesToRefuse = new Map<string, number>();
  #offered = new Map<string, { secret: string; enrolled: boolean }>();

  /** Makes the site refuse a user's next authenticator codes, even correct ones. */
  refuseCodes(username: string, times: number): void {
    this.#codesToRefuse.set(username, times);
  }

  /** Verifies a code within the clock tolerance. Each code is accepted once. */
  accepts(username: string, secret: string, code: string): boolean {
    const period = this.periodOf(username);
    const totp = new TOTP({ secret: Secret.fromBase32(secret), period });
    const token = code.replace(/\s/g, '');
    const right = totp.validate({ token, window: Math.ceil(TOLERANCE_S / period) }) !== null;
    return right && this.#isFirstUse(username, token);
  }

  /** The TOTP period of a user's authenticator, in seconds. */
  periodOf(username: string): number {
    return this.#periods.get(username) ?? DEFAULT_PERIOD_S;
  }

  setPeriod(username: string, seconds: number): void {
    this.#periods.set(username, seconds);
  }

  /** True if the next code is to be refused. Counts down. */
  shouldRefuse(username: string): boolean {
    const left = this.#codesToRefuse.get(username) ?? 0;
    this.#codesToRefuse.set(username, Math.max(0, left - 1));
    return left > 0;
  }

  /** The secret offered to a user without an authenticator; stable until it is set up. */
  offeredSecret(username: string): string {
    const secret = this.#offered.get(username)?.secret ?? new Secret({ size: 20 }).base32;
    this.#offered.set(username, { secret, enrolled: this.isEnrolled(username) });
    return secret;
  }

  isEnrolled(username: string): boolean {
    return this.#offered.get(username)?.enrolled === true;
  }

  /** Sets up the offered authenticator if the code is correct. */
  enrol(username: string, code: string): boolean {
    const secret = this.offeredSecret(username);
    const taken = this.accepts(username, secret, code);
    if (taken) this.#offered.set(username, { secret, enrolled: true });
    return taken;
  }

  #isFirstUse(username: string, code: string): boolean {
    if (this.#used.get(username) === code) return false;
    this.#used.set(username, code);
    return true;
  }

  reset(): void {
    for (const map of [this.#used, this.#periods, this.#codesToRefuse]) map.clear();
    this.#offered.clear();
  }
}
