import type { ConnectionSettings } from '../../contract/document.ts';
import type { CodeChannel } from '../../contract/reading.ts';

/**
 * The channels whose codes come by themselves. Where any do, a code of which the page does not say how it is sent is waited for,
 * too. Pure.
 */
export function codeChannelsOf({ codes }: Pick<ConnectionSettings, 'codes'>): CodeChannel[] {
  const channels: CodeChannel[] = [
    ...(codes?.phone_number === undefined ? [] : ['sms' as const]),
    ...(codes?.email_address === undefined ? [] : ['email' as const]),
    ...(codes?.api ?? []),
  ];
  return channels.length === 0 ? [] : [...new Set(channels), 'unknown'];
}
