import type { BrowserMemory, BrowserPoolRef, BrowserViewport } from '../../contract/browsers.ts';
import type { BrowserProxy } from '../../contract/proxies.ts';
import type { Chromium } from '../chromium/launch.ts';
import type { InputState } from '../computer/device.ts';
import type { AttachedProfile } from '../profile/profile-store.ts';
import type { SessionTelemetry } from '../telemetry/session-telemetry.ts';
import type { ActivityClock } from './activity.ts';
import type { Workspace } from './workspace.ts';

/** Why a session ended. Only `deleted`, `timeout` and `shutdown` save a profile. */
export type SessionEnd = 'deleted' | 'timeout' | 'crashed' | 'shutdown' | 'released';

/** The data of a session, kept after its browser is gone. */
export interface SessionRecord {
  id: string;
  projectId: string;
  createdAt: Date;
  endedAt: Date | null;
  /** Why it ended; null while it runs. */
  endedBy: SessionEnd | null;
  /** The signal or exit code its browser crashed with. */
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
  /** The chosen proxy; null for the default, a direct connection. */
  proxy: BrowserProxy | null;
  telemetry: SessionTelemetry;
  /** The pool it belongs to. */
  pool: BrowserPoolRef | null;
  /** True for a session of a login or a health check. */
  managedAuth: boolean;
  /** True while it waits in its pool, invisible to callers. */
  idle: boolean;
  /** The invocation it belongs to, and ends with. */
  invocationId: string | undefined;
}

/** A running session. */
export interface Session {
  record: SessionRecord;
  chromium: Chromium;
  input: InputState;
  /** Open live views and recordings; while there are any, the viewport changes only with `force`. */
  watchers: { live: number; recordings: number };
  activity: ActivityClock;
  /** Its files and processes. */
  workspace: Workspace;
  /** Runs when the session ends, while the browser is still alive. */
  beforeEnd: Set<() => Promise<void>>;
  /** Ends open client connections when the session ends. */
  onEnd: Set<() => void>;
  /** Serializes input and changes to the session. */
  exclusively<T>(action: () => Promise<T>): Promise<T>;
}

/** Creates a function that runs actions one at a time, in order. */
export function createQueue(): <T>(action: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (action) => {
    const run = last.then(action, action);
    last = run.catch(() => undefined);
    return run;
  };
}
