import { exchange, readState, type Outcome } from './calls.ts';
import type { FlowView } from '../view.ts';

/** How entering the page went. */
export type Entry =
  | { kind: 'entered'; view: FlowView }
  | { kind: 'rejected'; why: 'used' | 'unknown' | 'none' | 'replaced' }
  | { kind: 'offline' };

/** A code being exchanged. Kept in the history entry only, so that a reload before the response can continue. */
interface Pending {
  code: string;
  attempt: string;
}

/**
 * Removes the code from the address bar and keeps it in this history entry until it has been exchanged. Must be called before
 * anything else.
 */
export function consumeCode(): Pending | null {
  const url = new URL(location.href);
  const code = url.searchParams.get('code');
  if (code === null) return readPending(history.state);
  url.searchParams.delete('code');
  const pending: Pending = { code, attempt: randomText() };
  history.replaceState({ holdfast: pending }, '', url.pathname + url.search + url.hash);
  return pending;
}

/**
 * Enters with the code if there is one, else with the cookie of an earlier visit. The browser that redeemed a code may come back
 * with it; an unknown code is rejected whatever the cookie says.
 */
export async function enter(pending: Pending | null): Promise<Entry> {
  if (pending === null) return toEntry(await readState(), 'none');
  const outcome = await exchange(pending.code, pending.attempt);
  if (outcome.kind === 'offline') return { kind: 'offline' };
  if (outcome.kind === 'ok') forgetCode();
  if (outcome.kind === 'rejected' && outcome.status === 410) {
    forgetCode();
    return toEntry(await readState(), 'used');
  }
  return toEntry(outcome, 'unknown');
}

function toEntry(outcome: Outcome<FlowView>, without: 'used' | 'unknown' | 'none'): Entry {
  if (outcome.kind === 'offline') return { kind: 'offline' };
  if (outcome.kind === 'ok') return { kind: 'entered', view: outcome.value };
  if (outcome.status >= 500 || outcome.status === 429) return { kind: 'offline' };
  if (outcome.status === 404) return { kind: 'rejected', why: 'unknown' };
  if (outcome.status === 410 && without === 'none') return { kind: 'rejected', why: 'replaced' };
  return { kind: 'rejected', why: without };
}

function forgetCode(): void {
  history.replaceState(null, '');
}

function readPending(state: unknown): Pending | null {
  if (typeof state !== 'object' || state === null || !('holdfast' in state)) return null;
  const { holdfast } = state;
  if (typeof holdfast !== 'object' || holdfast === null || !('code' in holdfast) || !('attempt' in holdfast))
    return null;
  const { code, attempt } = holdfast;
  return typeof code === 'string' && typeof attempt === 'string' ? { code, attempt } : null;
}

function randomText(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
