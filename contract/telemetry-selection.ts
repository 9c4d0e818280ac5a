import type { CdpCommandMethod } from './telemetry-commands.ts';
import type { TelemetryCategory, TelemetryRequest } from './telemetry.ts';
import { OPERATIONAL_CATEGORIES, TELEMETRY_CATEGORIES } from './telemetry.ts';

/** The categories that a session captures. Never empty: a session that captures nothing has null instead. */
export type TelemetrySelection = ReadonlySet<TelemetryCategory>;

/** Which of them a category was set to: `null` leaves it as it is. */
type Flags = Partial<Record<TelemetryCategory, boolean | null>>;

/** The selection of a session that asks for telemetry and names nothing. */
export const DEFAULT_SELECTION: TelemetrySelection = new Set(OPERATIONAL_CATEGORIES);

/** What a new session captures (interface.md, "BrowserTelemetryRequestConfig"). */
export function selectionOnCreate(request: TelemetryRequest | null | undefined): TelemetrySelection | null {
  return selectionOnUpdate(null, request);
}

/**
 * What a session captures after a change. `enabled: true` starts again from the default set; without `enabled` the named
 * categories are merged onto what is captured now, or onto the default set when that is nothing. Null, absent and `{}`
 * change nothing.
 */
export function selectionOnUpdate(
  current: TelemetrySelection | null,
  request: TelemetryRequest | null | undefined,
): TelemetrySelection | null {
  if (request === null || request === undefined) return current;
  if (request.enabled === false) return null;
  if (request.enabled === undefined && request.browser === undefined) return current;
  const base = request.enabled === true ? DEFAULT_SELECTION : (current ?? DEFAULT_SELECTION);
  return layer(base, flagsOf(request));
}

/**
 * The commands that are not told after a change: the list is merged for itself, whatever becomes of the categories. Undefined
 * where the request says nothing of it.
 */
export function exclusionsOf(request: TelemetryRequest | null | undefined): ReadonlySet<CdpCommandMethod> | undefined {
  const methods = request?.browser?.control?.cdp?.excluded_methods;
  return methods === undefined ? undefined : new Set(methods);
}

/** A selection as a session shows it (BrowserTelemetryConfig): every category with its flag. */
export function selectionView(
  selection: TelemetrySelection | null,
  excluded: ReadonlySet<CdpCommandMethod> = new Set(),
) {
  if (selection === null) return null;
  const flag = (category: TelemetryCategory): { enabled: boolean } => ({ enabled: selection.has(category) });
  return {
    browser: {
      control: {
        ...flag('control'),
        ...(excluded.size === 0 ? {} : { cdp: { excluded_methods: [...excluded] } }),
      },
      connection: flag('connection'),
      system: flag('system'),
      captcha: flag('captcha'),
      console: flag('console'),
      network: flag('network'),
      page: flag('page'),
      interaction: flag('interaction'),
      screenshot: flag('screenshot'),
      platform: flag('platform'),
    },
  };
}

function layer(base: TelemetrySelection, flags: Flags): TelemetrySelection | null {
  const selected = TELEMETRY_CATEGORIES.filter((category) => flags[category] ?? base.has(category));
  return selected.length === 0 ? null : new Set(selected);
}

function flagsOf(request: TelemetryRequest): Flags {
  const flags: Flags = {};
  for (const category of TELEMETRY_CATEGORIES) flags[category] = request.browser?.[category]?.enabled ?? null;
  return flags;
}
