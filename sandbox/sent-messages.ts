import { randomBytes, randomInt } from 'node:crypto';
import { deliver, type Delivery, type SentMessage } from './deliver.ts';

/** Codes and links sent to users. In memory only. */
export class SentMessages {
  #smsCodes = new Map<string, string>();
  #emailCodes = new Map<string, string>();
  #emailLinks = new Map<string, string>();
  #sentTo = new Map<string, string>();
  #deliveries = new Map<string, Delivery>();

  /** Sends a new code, which invalidates the previous one. */
  sendCode(channel: 'sms' | 'email', username: string, to?: string): void {
    if (to !== undefined) this.#sentTo.set(username, to);
    const code = randomInt(0, 1_000_000).toString().padStart(6, '0');
    (channel === 'sms' ? this.#smsCodes : this.#emailCodes).set(username, code);
    this.#deliver(username, { text: `${code} is your Sandbox code. It expires in 10 minutes. © 2026 Sandbox` });
  }

  /** Posts a user's messages to a URL from now on; null stops it. */
  deliverTo(username: string, delivery: Delivery | null): void {
    if (delivery === null) this.#deliveries.delete(username);
    else this.#deliveries.set(username, delivery);
  }

  #deliver(username: string, message: SentMessage): void {
    const delivery = this.#deliveries.get(username);
    if (delivery !== undefined) void deliver(delivery, message);
  }

  code(channel: 'sms' | 'email', username: string): string | undefined {
    return (channel === 'sms' ? this.#smsCodes : this.#emailCodes).get(username);
  }

  /** The phone that the last code was sent to, if the user could choose. */
  sentTo(username: string): string | undefined {
    return this.#sentTo.get(username);
  }

  /** True for the current code, once. */
  redeemCode(channel: 'sms' | 'email', username: string, code: string): boolean {
    if (this.code(channel, username) !== code) return false;
    (channel === 'sms' ? this.#smsCodes : this.#emailCodes).delete(username);
    return true;
  }

  /** Mails a sign-in link for a pending login; `write` composes the mail for its token. */
  mailLink(username: string, pendingId: string, write: (token: string) => SentMessage): void {
    const token = randomBytes(24).toString('base64url');
    this.#emailLinks.set(token, pendingId);
    this.#emailLinks.set(`last:${username}`, token);
    this.#deliver(username, write(token));
  }

  lastMailedToken(username: string): string | undefined {
    return this.#emailLinks.get(`last:${username}`);
  }

  /** The pending login's cookie value for a mailed link. */
  pendingLoginOf(token: string): string | undefined {
    return this.#emailLinks.get(token);
  }

  /** Redeems a mailed link, once, and returns its pending login's cookie value. */
  redeemLink(token: string): string | undefined {
    const pendingId = this.#emailLinks.get(token);
    this.#emailLinks.delete(token);
    return pendingId;
  }

  reset(): void {
    for (const map of [this.#smsCodes, this.#emailCodes, this.#emailLinks, this.#sentTo]) map.clear();
    this.#deliveries.clear();
  }
}
