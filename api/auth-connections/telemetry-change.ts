import type { TelemetryRequest } from '../../contract/telemetry.ts';

/**
 * The telemetry configuration after an update (interface.md, "BrowserTelemetryRequestConfig"): `enabled: true` starts from
 * the default set, `enabled: false` stops, and without `enabled` the given categories are merged onto the current ones.
 */
export function mergeTelemetry(
  current: TelemetryRequest | null | undefined,
  change: TelemetryRequest | null,
): TelemetryRequest | null {
  if (change === null) return null;
  if (change.enabled !== undefined || current === null || current === undefined) return change;
  if (current.enabled === false) return { ...change, enabled: true };
  return { ...current, ...change, browser: { ...current.browser, ...change.browser } };
}
