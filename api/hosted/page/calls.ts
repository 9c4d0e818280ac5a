import type { FocusedControl } from '../../../contract/screencast.ts';
import type { HandAction } from '../deps.ts';
import type { FlowView } from '../view.ts';

/** What came of a call: its answer, the code of a refusal, or no answer at all (`offline`). */
export type Outcome<Value> =
  | { kind: 'ok'; value: Value }
  | { kind: 'refused'; status: number; code: string }
  | { kind: 'offline' };

/** What a person gave at one pause. */
export interface Answer {
  interaction_id: string;
  field_values?: Record<string, string>;
  selected_choice_id?: string;
  /** The form is not the right one. */
  wrong_form?: true;
}

/** How long one call may take, in milliseconds; a slow phone network is still within it. */
const CALL_TIMEOUT_MS = 30_000;
/** Our own header (same-origin.ts). */
const HEADERS = { 'x-holdfast-page': '1' };

/** The page's endpoints lie below its own path, wherever the installation is mounted. */
export function endpoint(name: 'exchange' | 'state' | 'events' | 'submit' | 'picture' | 'hands'): string {
  return `${location.pathname.replace(/\/+$/, '')}/${name}`;
}

export function exchange(code: string, attempt: string): Promise<Outcome<FlowView>> {
  return call('exchange', { method: 'POST', body: JSON.stringify({ code, attempt }) });
}

export function readState(): Promise<Outcome<FlowView>> {
  return call('state', { method: 'GET' });
}

/** Sends an answer. Nothing of it is kept here; whoever calls it clears the inputs once it is accepted. */
export function submitAnswer(answer: Answer): Promise<Outcome<unknown>> {
  return call('submit', { method: 'POST', body: JSON.stringify(answer) });
}

/**
 * Does on the site's page what was done on its picture, and answers what has the keyboard there since (null: as before). What does
 * not arrive is seen: the picture stays as it is.
 */
export function doOnPage(actions: HandAction[]): Promise<Outcome<{ focus: FocusedControl | null }>> {
  return call('hands', { method: 'POST', body: JSON.stringify({ actions }) });
}

/** Opens an event stream. The caller reads the body; a status other than 200 is its to judge. */
export function openStream(
  name: 'events' | 'picture',
  headers: Record<string, string>,
  signal: AbortSignal,
): Promise<Response> {
  return fetch(endpoint(name), { headers: { ...HEADERS, ...headers }, cache: 'no-store', signal });
}

async function call<Value>(
  name: 'exchange' | 'state' | 'submit' | 'hands',
  init: RequestInit,
): Promise<Outcome<Value>> {
  const timeout = new AbortController();
  const timer = setTimeout(() => timeout.abort(), CALL_TIMEOUT_MS);
  const json = init.method === 'POST' ? { 'content-type': 'application/json' } : {};
  try {
    const response = await fetch(endpoint(name), {
      ...init,
      headers: { ...HEADERS, ...json },
      cache: 'no-store',
      signal: timeout.signal,
    });
    const body: unknown = await response.json().catch(() => null);
    // Our own server's answer, of the type it shares with this page (view.ts).
    if (response.ok && body !== null) return { kind: 'ok', value: body as Value };
    return { kind: 'refused', status: response.status, code: codeOf(body) };
  } catch {
    return { kind: 'offline' };
  } finally {
    clearTimeout(timer);
  }
}

function codeOf(body: unknown): string {
  return typeof body === 'object' && body !== null && 'code' in body && typeof body.code === 'string' ? body.code : '';
}
