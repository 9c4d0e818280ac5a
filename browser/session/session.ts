import type { BrowserMemory, BrowserPoolRef, BrowserViewport } from '../../contract/browsers.ts';
import type { BrowserProxy } from '../../contract/proxies.ts';
import type { Chromium } from '../chromium/launch.ts';
import type { InputState } from '../computer/device.ts';
import type { AttachedProfile } from '../profile/profile-store.ts';
import type { SessionTelemetry } from '../telemetry/session-telemetry.ts';
import type { ActivityClock } from './activity.ts';
import type { SessionSpace } from './space.ts';

/** Why a session ended. Only `deleted`, `timeout` and `shutdown` save a profile. */
export type SessionEnd = 'deleted' | 'timeout' | 'crashed' | 'shutdown' | 'released';

/** What a session keeps after its browser is gone. */
export interface SessionRecord {
  id: string;
  projectId: string;
  createdAt: Date;
  endedAt: Date | null;
  /** Why it ended; null while it runs. */
  endedBy: SessionEnd | null;
  /** How its browser ended when it crashed: a signal or an exit code. */
  crash: string | null;
  headless: boolean;
  stealth: boolean;
  kioskMode: boolean;
  memory: BrowserMemory;
  timeoutSeconds: number;
  name: string | undefined;
  tags: Record<string, string> | undefined;
  startUrl: string | undefined;
  chromePolicy: Record<string, unknown> | undefined;
  viewport: BrowserViewport;
  profile: AttachedProfile | null;
  /** The chosen way out; null for the default, which is straight out. */
  proxy: BrowserProxy | null;
  telemetry: SessionTelemetry;
  /** The pool that it belongs to. */
  pool: BrowserPoolRef | null;
  /** True for one of a login or a health check. */
  managedAuth: boolean;
  /** True while it waits in its pool: it is nobody's session yet, and nobody sees it. */
  idle: boolean;
  /** The invocation that it belongs to, and ends with. */
  invocationId: string | undefined;
}

/** A running session. */
export interface Session {
  record: SessionRecord;
  chromium: Chromium;
  input: InputState;
  /** Who looks on: its size stays as it is meanwhile, unless a caller insists. */
  watchers: { live: number; recordings: number };
  activity: ActivityClock;
  /** Its files and processes. */
  space: SessionSpace;
  /** What has to be finished while the browser still runs, when the session ends. */
  beforeEnd: Set<() => Promise<void>>;
  /** Ends open client connections when the session ends. */
  onEnd: Set<() => void>;
  /** Runs one at a time what must not mix: input, and changes of the session. */
  exclusively<T>(action: () => Promise<T>): Promise<T>;
}

/** A queue of one: actions run in the order in which they were handed in. */
export function createQueue(): <T>(action: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (action) => {
    const run = last.then(action, action);
    last = run.catch(() => undefined);
    return run;
  };
}
