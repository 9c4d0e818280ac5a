import type { CdpCommandMethod } from './telemetry-commands.ts';
import type { TelemetryCategory, TelemetryRequest } from './telemetry.ts';
import { OPERATIONAL_CATEGORIES, TELEMETRY_CATEGORIES } from './telemetry.ts';

/** The categories that a session captures. Never empty: a session that captures nothing has null. */
export type TelemetrySelection = ReadonlySet<TelemetryCategory>;

/** Requested flags; `null` keeps the current one. */
type Flags = Partial<Record<TelemetryCategory, boolean | null>>;

/** The selection of a session that requests telemetry without naming categories. */
export const DEFAULT_SELECTION: TelemetrySelection = new Set(OPERATIONAL_CATEGORIES);

/** What a new session captures (interface.md, "BrowserTelemetryRequestConfig"). */
export function selectionOnCreate(request: TelemetryRequest | null | undefined): TelemetrySelection | null {
  return selectionOnUpdate(null, request);
}

/**
 * What a session captures after a change. `enabled: true` starts from the default set; without `enabled` the named categories
 * are merged into the current set, or into the default set if there is none. Null, absent and `{}` change nothing.
 */
export function selectionOnUpdate(
  current: TelemetrySelection | null,
  request: TelemetryRequest | null | undefined,
): TelemetrySelection | null {
  if (request === null || request === undefined) return current;
  if (request.enabled === false) return null;
  if (request.enabled === undefined && request.browser === undefined) return current;
  const base = request.enabled === true ? DEFAULT_SELECTION : (current ?? DEFAULT_SELECTION);
  return merge(base, flagsOf(request));
}

/** The commands without events after a change, independent of the categories. Undefined if the request does not name any. */
export function exclusionsOf(request: TelemetryRequest | null | undefined): ReadonlySet<CdpCommandMethod> | undefined {
  const methods = request?.browser?.control?.cdp?.excluded_methods;
  return methods === undefined ? undefined : new Set(methods);
}

/** A selection in its public form (BrowserTelemetryConfig): every category with its flag. */
export function selectionView(
  selection: TelemetrySelection | null,
  excluded: ReadonlySet<CdpCommandMethod> = new Set(),
) {
  if (selection === null) return null;
  const flags = Object.fromEntries(
    TELEMETRY_CATEGORIES.map((category) => [category, { enabled: selection.has(category) }]),
  ) as Record<TelemetryCategory, { enabled: boolean }>;
  const cdp = excluded.size === 0 ? {} : { cdp: { excluded_methods: [...excluded] } };
  return { browser: { ...flags, control: { ...flags.control, ...cdp } } };
}

function merge(base: TelemetrySelection, flags: Flags): TelemetrySelection | null {
  const selected = TELEMETRY_CATEGORIES.filter((category) => flags[category] ?? base.has(category));
  return selected.length === 0 ? null : new Set(selected);
}

function flagsOf(request: TelemetryRequest): Flags {
  const flags: Flags = {};
  for (const category of TELEMETRY_CATEGORIES) flags[category] = request.browser?.[category]?.enabled ?? null;
  return flags;
}
