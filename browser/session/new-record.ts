import type { BrowserCreate, BrowserPoolRef } from '../../contract/browsers.ts';
import { DEFAULT_VIEWPORT, defaultMemory, SESSION_TIMEOUT } from '../../contract/browsers.ts';
import { HoldfastError } from '../../contract/errors.ts';
import { newId } from '../../contract/ids.ts';
import { exclusionsOf, selectionOnCreate } from '../../contract/telemetry-selection.ts';
import type { WindowPolicy } from '../chromium/display.ts';
import { createSessionTelemetry } from '../telemetry/session-telemetry.ts';
import type { SessionRecord } from './session.ts';

/** What sets a session apart from one that a caller has asked for. */
export interface SessionKind {
  /** A person's secrets will be typed into it, so telemetry keeps clear of what is typed. */
  managedAuth?: boolean;
  /** It waits in this pool. */
  pool?: BrowserPoolRef;
}

/** The record of a session that is about to start, as its caller wants it and with the defaults of what was left out. */
export function newRecord(
  projectId: string,
  request: BrowserCreate,
  windows: WindowPolicy,
  { managedAuth = false, pool }: SessionKind,
): SessionRecord {
  const headless = request.headless ?? windows !== 'default';
  return {
    id: newId('brw'),
    projectId,
    createdAt: new Date(),
    endedAt: null,
    endedBy: null,
    crash: null,
    headless,
    stealth: request.stealth ?? false,
    kioskMode: request.kiosk_mode ?? false,
    memory: request.memory ?? defaultMemory(headless),
    timeoutSeconds: request.timeout_seconds ?? SESSION_TIMEOUT.default,
    name: request.name,
    tags: request.tags,
    startUrl: request.start_url,
    chromePolicy: request.chrome_policy,
    viewport: request.viewport ?? { ...DEFAULT_VIEWPORT },
    profile: null,
    proxy: null,
    invocationId: request.invocation_id,
    telemetry: createSessionTelemetry({
      selection: selectionOnCreate(request.telemetry),
      excluded: exclusionsOf(request.telemetry),
      private: managedAuth,
    }),
    managedAuth,
    pool: pool ?? null,
    idle: pool !== undefined,
  };
}

/** Throws `operation_failed` for a window that is asked for by name and cannot be had. */
export function assertWindows({ headless }: Pick<BrowserCreate, 'headless'>, windows: WindowPolicy): void {
  if (headless !== false || windows !== 'never') return;
  const message =
    'headless: windows need Xvfb, which is not installed here (`apt-get install xvfb`, then restart the browser ' +
    'service), or are turned off by BROWSER_WINDOWS; send `headless: true`, or leave it out';
  throw new HoldfastError('operation_failed', message, { details: [{ code: 'no_display', message }] });
}
