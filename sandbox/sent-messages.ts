import { randomBytes, randomInt } from 'node:crypto';
import { deliver, type Delivery, type SentMessage } from './deliver.ts';

/** Codes and links that the site has sent to its users; in memory only. */
export class SentMessages {
  #smsCodes = new Map<string, string>();
  #emailCodes = new Map<string, string>();
  #emailLinks = new Map<string, string>();
  #sentTo = new Map<string, string>();
  #deliveries = new Map<string, Delivery>();

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

  /** Mails a sign-in link for a login that waits; `write` makes the mail of its secret part. */
  mailLink(username: string, pendingId: string, write: (token: string) => SentMessage): void {
    const token = randomBytes(24).toString('base64url');
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

  /** Redeems a mailed link, once; answers the value of the cookie of the login that waits for it. */
  redeemLink(token: string): string | undefined {
    const pendingId = this.#emailLinks.get(token);
    this.#emailLinks.delete(token);
    return pendingId;
  }

  /** Forgets all of them. */
  reset(): void {
    for (const map of [this.#smsCodes, this.#emailCodes, this.#emailLinks, this.#sentTo]) map.clear();
    this.#deliveries.clear();
  }
}
