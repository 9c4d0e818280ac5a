import type { BrowserCreate, BrowserPoolRef } from '../../contract/browsers.ts';
import { DEFAULT_VIEWPORT, defaultMemory, SESSION_TIMEOUT } from '../../contract/browsers.ts';
import { HoldfastError } from '../../contract/errors.ts';
import { newId } from '../../contract/ids.ts';
import { exclusionsOf, selectionOnCreate } from '../../contract/telemetry-selection.ts';
import { checkUserUrl } from '../../egress/guard.ts';
import type { EgressPolicy } from '../../egress/policy.ts';
import type { WindowPolicy } from '../chromium/display.ts';
import { checkChromePolicy } from '../chromium/policy.ts';
import { createSessionTelemetry } from '../telemetry/session-telemetry.ts';
import type { SessionRecord } from './session.ts';

/** Validates the options a browser is started with. Throws an error that names the offending field. */
export function checkStartOptions(
  request: Pick<BrowserCreate, 'gpu' | 'network' | 'telemetry' | 'start_url' | 'chrome_policy'>,
  policy: EgressPolicy,
): void {
  rejectUnsupported(request);
  const { start_url: startUrl, chrome_policy: chromePolicy } = request;
  if (chromePolicy !== undefined) checkChromePolicy(chromePolicy);
  if (startUrl !== undefined && startUrl !== '') checkUserUrl(startUrl, { policy, field: 'start_url' });
}

/** Throws `invalid_request` for options that would otherwise be silently ignored. */
export function rejectUnsupported({
  gpu,
  network,
  telemetry,
}: Pick<BrowserCreate, 'gpu' | 'network' | 'telemetry'>): void {
  const messages: string[] = [];
  if (gpu === true) messages.push('gpu: not supported; omit it');
  if (Object.keys(network ?? {}).length > 0) {
    messages.push('network: per-session settings are not supported; use `proxy`, or omit it');
  }
  if (Object.keys(telemetry?.export ?? {}).length > 0) {
    messages.push('telemetry.export: not supported; read `telemetry/stream` or `telemetry/events`');
  }
  const details = messages.map((message) => ({ code: 'not_available', message }));
  if (details[0] !== undefined) throw new HoldfastError('invalid_request', details[0].message, { details });
}

/** Throws `operation_failed` if a window is explicitly requested but cannot be provided. */
export function assertWindowAvailable({ headless }: Pick<BrowserCreate, 'headless'>, windows: WindowPolicy): void {
  if (headless !== false || windows !== 'never') return;
  const message =
    'headless: windows need Xvfb, which is not installed (`apt-get install xvfb`, then restart the browser service), ' +
    'or are disabled by BROWSER_WINDOWS; send `headless: true`, or omit it';
  throw new HoldfastError('operation_failed', message, { details: [{ code: 'no_display', message }] });
}

/** How a session differs from one that a caller created directly. */
export interface SessionKind {
  /** A person's secrets will be typed into it, so telemetry must not record what is typed. */
  managedAuth?: boolean;
  /** The pool it is created for; it starts idle. */
  pool?: BrowserPoolRef;
}

/** Creates the record of a session that is about to start, with defaults for omitted options. */
export function createSessionRecord(
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
