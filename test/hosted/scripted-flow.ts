import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { Readable } from 'node:stream';
import type { ConnectionSubmit, ManagedAuth } from '../../contract/connections.ts';
import { HoldfastError } from '../../contract/errors.ts';
import type { FocusedControl } from '../../contract/screencast.ts';
import type { InputAction, HostedPageDeps, HostedState, StatesRequest } from '../../api/hosted/deps.ts';

/** What a test changes of a state; the rest is a flow that has just begun. */
export type Change = Partial<ManagedAuth> & Partial<Pick<HostedState, 'formNotice' | 'pictures' | 'actsOnPage'>>;

/** A connection whose flow the test drives by hand, in place of workflows and a store. */
export interface ScriptedFlow {
  readonly id: string;
  readonly deps: HostedPageDeps;
  /** What was done on the page's picture, in order. */
  readonly done: InputAction[];
  /** What a stream of pictures says before it waits for its end. */
  pictures: string;
  /** How many streams of pictures are open. */
  watching: number;
  /** What has the keyboard on the page. */
  focus: FocusedControl | null;
  /** What was submitted, in order. */
  readonly submitted: ConnectionSubmit[];
  /** A fresh handoff code for the flow that runs now. */
  code(): string;
  /** Goes on to a new state. Fields of the last pause are gone unless they are given again. */
  go(change: Change): void;
  /** Begins a new flow in place of this one. */
  restart(): void;
  remove(): void;
  /** Called with each submit before it is accepted; throw to refuse, wait to be slow. */
  onSubmit: (body: ConnectionSubmit) => Promise<void> | void;
  /** Ends every open stream, as a restart of the service would. */
  cutStreams(): void;
  /** Last-Event-ID of each stream that was opened. */
  readonly streamStarts: (number | null)[];
  /** While true, a stream that is opened ends at once with a fault. */
  failStreams: boolean;
}

const PAUSE_GONE: Change = { interaction_id: null, fields: null, choices: null, discovered_fields: null };

/** @param publicUrl is read late: a test's server knows its port only once it listens. */
export function createScriptedFlow(publicUrl: () => string, id = 'conn1'): ScriptedFlow {
  let flow = 1;
  const first: HostedState = {
    flowId: 'flow1',
    revision: 1,
    connection: begun(id),
    formNotice: null,
    pictures: {},
    actsOnPage: false,
  };
  let state: HostedState | null = first;
  const past: HostedState[] = [first];
  const codes = new Map<string, { flowId: string; used: boolean }>();
  const tokens = new Map<string, { connectionId: string; flowId: string; expiresAt: number }>();
  const waiting = new Set<() => void>();
  const put = (next: HostedState | null) => {
    state = next;
    if (next) past.push(next);
    for (const wake of [...waiting]) wake();
  };
  let cut = new AbortController();

  async function* states(_id: string, { signal, afterRevision }: StatesRequest): AsyncIterable<HostedState> {
    const here = cut.signal;
    scripted.streamStarts.push(afterRevision);
    if (scripted.failStreams) throw new Error('the store is away');
    let seen = afterRevision ?? (state?.revision ?? 1) - 1;
    while (!signal.aborted && !here.aborted && state !== null) {
      for (const one of past.filter(({ revision }) => revision > seen)) {
        seen = one.revision;
        yield one;
      }
      await new Promise<void>((resolve) => {
        const wake = () => {
          waiting.delete(wake);
          resolve();
        };
        waiting.add(wake);
        signal.addEventListener('abort', wake, { once: true });
        here.addEventListener('abort', wake, { once: true });
      });
    }
  }

  async function* picturesUntil(signal: AbortSignal): AsyncIterable<Buffer> {
    yield Buffer.from(scripted.pictures);
    if (!signal.aborted) await once(signal, 'abort');
  }

  const scripted: ScriptedFlow = {
    id,
    done: [],
    pictures: '',
    watching: 0,
    focus: null,
    submitted: [],
    streamStarts: [],
    failStreams: false,
    onSubmit: () => undefined,
    code() {
      const code = randomBytes(32).toString('base64url');
      codes.set(code, { flowId: `flow${flow}`, used: false });
      return code;
    },
    go({ formNotice = null, pictures = {}, actsOnPage = false, ...change }) {
      if (state === null) throw new Error('the connection is gone');
      const connection = {
        ...state.connection,
        ...PAUSE_GONE,
        external_action_message: null,
        website_error: null,
        ...change,
      };
      put({ ...state, revision: state.revision + 1, connection, formNotice, pictures, actsOnPage });
    },
    restart() {
      flow += 1;
      put({ ...first, flowId: `flow${flow}`, revision: (state?.revision ?? 0) + 1, connection: begun(id) });
    },
    remove: () => put(null),
    cutStreams() {
      const old = cut;
      cut = new AbortController();
      old.abort();
    },
    deps: {
      allowedOrigins: [],
      get publicUrl() {
        return publicUrl();
      },
      async exchange(connectionId, code) {
        const known = codes.get(code);
        if (connectionId !== id || !known) throw new HoldfastError('not_found', 'no such code');
        if (known.used) throw new HoldfastError('gone', 'the code was used');
        known.used = true;
        const jwt = `eyJ0.${randomBytes(16).toString('base64url')}.sig`;
        tokens.set(jwt, { connectionId, flowId: known.flowId, expiresAt: Date.now() + 30 * 60_000 });
        return { jwt, flowId: known.flowId };
      },
      verify: async (jwt) => tokens.get(jwt) ?? null,
      read: async () => state,
      states,
      screencast: async (_session, signal) => {
        if (state?.actsOnPage !== true) throw new HoldfastError('not_found', 'no page is shown');
        scripted.watching += 1;
        signal.addEventListener('abort', () => (scripted.watching -= 1), { once: true });
        return Readable.from(picturesUntil(signal));
      },
      sendInput: async (_session, actions) => {
        scripted.done.push(...actions);
        return scripted.focus;
      },
      async submit(_connectionId, body) {
        scripted.submitted.push(body);
        await scripted.onSubmit(body);
        const waits = state?.connection.interaction_id ?? null;
        if (waits === null) throw new HoldfastError('not_awaiting_input', 'nothing waits');
        if (body.interaction_id !== waits) throw new HoldfastError('stale_interaction', 'answered already');
      },
    },
  };
  return scripted;
}

function begun(id: string): ManagedAuth {
  return {
    id,
    profile_name: 'ada',
    domain: 'shop.example.com',
    status: 'NEEDS_AUTH',
    save_credentials: true,
    record_session: false,
    browser_session_id: 'brw_secret_session',
    live_view_url: 'http://live.example/secret',
    login_url: 'https://shop.example.com/hidden-login',
    flow_type: 'LOGIN',
    flow_status: 'IN_PROGRESS',
    flow_step: 'DISCOVERING',
    flow_expires_at: new Date(Date.now() + 19.5 * 60_000).toISOString(),
  };
}
