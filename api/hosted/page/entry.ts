import { exchange, readState, type Outcome } from './calls.ts';
import type { FlowView } from '../view.ts';

/** How a person got in, or why not. */
export type Entry =
  | { kind: 'in'; view: FlowView }
  | { kind: 'out'; why: 'used' | 'unknown' | 'none' | 'replaced' }
  | { kind: 'offline' };

/** The code on its way, kept in the history entry alone, so that a reload before the answer came can go on. */
interface Pending {
  code: string;
  attempt: string;
}

/**
 * Takes the code out of the address bar at once and keeps it in this history entry until it has been exchanged.
 * To be called first of all.
 */
export function takeCode(): Pending | null {
  const url = new URL(location.href);
  const code = url.searchParams.get('code');
  if (code === null) return pendingOf(history.state);
  url.searchParams.delete('code');
  const pending: Pending = { code, attempt: randomText() };
  history.replaceState({ holdfast: pending }, '', url.pathname + url.search + url.hash);
  return pending;
}

/**
 * Gets in: by the code when there is one, else by the cookie of an earlier visit. A code that was used already does not
 * lock out the browser that used it. One that was never given out opens nothing, whatever the cookie says.
 */
export async function enter(pending: Pending | null): Promise<Entry> {
  if (pending === null) return judge(await readState(), 'none');
  const outcome = await exchange(pending.code, pending.attempt);
  if (outcome.kind === 'offline') return { kind: 'offline' };
  if (outcome.kind === 'ok') forgetCode();
  if (outcome.kind === 'refused' && outcome.status === 410) {
    forgetCode();
    return judge(await readState(), 'used');
  }
  return judge(outcome, 'unknown');
}

function judge(outcome: Outcome<FlowView>, without: 'used' | 'unknown' | 'none'): Entry {
  if (outcome.kind === 'offline') return { kind: 'offline' };
  if (outcome.kind === 'ok') return { kind: 'in', view: outcome.value };
  if (outcome.status >= 500 || outcome.status === 429) return { kind: 'offline' };
  if (outcome.status === 404) return { kind: 'out', why: 'unknown' };
  if (outcome.status === 410 && without === 'none') return { kind: 'out', why: 'replaced' };
  return { kind: 'out', why: without };
}

function forgetCode(): void {
  history.replaceState(null, '');
}

function pendingOf(state: unknown): Pending | null {
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
