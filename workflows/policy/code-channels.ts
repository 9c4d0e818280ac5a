import type { ConnectionSettings } from '../../contract/document.ts';
import type { CodeChannel } from '../../contract/reading.ts';

/** The channels whose codes arrive automatically; if there are any, codes of unknown origin count too. Pure. */
export function codeChannelsOf({ codes }: Pick<ConnectionSettings, 'codes'>): CodeChannel[] {
  const channels: CodeChannel[] = [
    ...(codes?.phone_number === undefined ? [] : ['sms' as const]),
    ...(codes?.email_address === undefined ? [] : ['email' as const]),
    ...(codes?.api ?? []),
  ];
  return channels.length === 0 ? [] : [...new Set(channels), 'unknown'];
}
