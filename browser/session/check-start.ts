import type { BrowserCreate } from '../../contract/browsers.ts';
import { HoldfastError } from '../../contract/errors.ts';
import { checkUserUrl } from '../../egress/guard.ts';
import type { EgressPolicy } from '../../egress/policy.ts';
import { checkChromePolicy } from '../chromium/policy.ts';

/** Throws what a browser is not started with, by its field: what is not to be had here, policies and addresses. */
export function checkStart(
  request: Pick<BrowserCreate, 'gpu' | 'network' | 'telemetry' | 'start_url' | 'chrome_policy'>,
  policy: EgressPolicy,
): void {
  refuseUnavailable(request);
  const { start_url: startUrl, chrome_policy: chromePolicy } = request;
  if (chromePolicy !== undefined) checkChromePolicy(chromePolicy);
  if (startUrl !== undefined && startUrl !== '') checkUserUrl(startUrl, { policy, field: 'start_url' });
}

/** What would silently not happen is refused by name instead, with what to do: throws `invalid_request`. */
export function refuseUnavailable({
  gpu,
  network,
  telemetry,
}: Pick<BrowserCreate, 'gpu' | 'network' | 'telemetry'>): void {
  const faults: string[] = [];
  if (gpu === true) faults.push('gpu: browsers here draw without a graphics card; leave it out');
  if (Object.keys(network ?? {}).length > 0) {
    faults.push('network: is the same for all sessions here; choose the way out by `proxy`, or leave it out');
  }
  if (Object.keys(telemetry?.export ?? {}).length > 0) {
    faults.push('telemetry.export: nothing is exported from here; read `telemetry/stream` or `telemetry/events`');
  }
  const details = faults.map((message) => ({ code: 'not_available', message }));
  if (details[0] !== undefined) throw new HoldfastError('invalid_request', details[0].message, { details });
}
