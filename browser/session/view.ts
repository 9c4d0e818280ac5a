import { REGION, type Browser } from '../../contract/browsers.ts';
import { selectionView } from '../../contract/telemetry-selection.ts';
import type { SessionTokens, TokenPurpose } from '../cdp/token.ts';
import type { SessionRecord } from './session.ts';

/** A session as callers see it. `wsBase` is the URL the caller reached us at, as a websocket URL without a trailing slash. */
export async function browserView(record: SessionRecord, wsBase: string, tokens: SessionTokens): Promise<Browser> {
  const { profile } = record;
  const sign = (purpose: TokenPurpose): Promise<string> => tokens.sign(record.id, purpose, record.projectId);
  const [cdpToken, bidiToken, liveToken] = await Promise.all([sign('cdp'), sign('bidi'), sign('live')]);
  const session = `${wsBase}/browsers/${record.id}`;
  const httpSession = session.replace(/^ws/, 'http');
  return {
    session_id: record.id,
    created_at: record.createdAt.toISOString(),
    ...(record.endedAt === null ? {} : { deleted_at: record.endedAt.toISOString() }),
    cdp_ws_url: `${session}/cdp?jwt=${cdpToken}`,
    webdriver_ws_url: `${session}/bidi?jwt=${bidiToken}`,
    // The live view takes input, so headless login sessions, which are not meant to be watched, have none.
    ...(record.headless && record.telemetry.private
      ? {}
      : { browser_live_view_url: `${httpSession}/live?jwt=${liveToken}` }),
    base_url: httpSession,
    region: REGION,
    stealth: record.stealth,
    headless: record.headless,
    gpu: false,
    kiosk_mode: record.kioskMode,
    memory: record.memory,
    timeout_seconds: record.timeoutSeconds,
    ...(record.name === undefined ? {} : { name: record.name }),
    ...(record.startUrl === undefined ? {} : { start_url: record.startUrl }),
    ...(record.chromePolicy === undefined ? {} : { chrome_policy: record.chromePolicy }),
    ...(record.tags === undefined ? {} : { tags: record.tags }),
    ...(record.pool === null ? {} : { pool: record.pool }),
    ...(profile === null
      ? {}
      : {
          profile: {
            id: profile.id,
            name: profile.name,
            created_at: profile.createdAt.toISOString(),
            updated_at: profile.updatedAt.toISOString(),
            ...(profile.lastUsedAt === undefined ? {} : { last_used_at: profile.lastUsedAt.toISOString() }),
          },
          profile_save_changes: profile.saveChanges,
        }),
    ...(record.proxy === null ? {} : { proxy: { ...record.proxy } }),
    ...(record.proxy?.id === undefined ? {} : { proxy_id: record.proxy.id }),
    telemetry: selectionView(record.telemetry.selection(), record.telemetry.excluded()),
    ...(record.telemetry.private ? { managed_auth: true as const } : {}),
    usage: { uptime_ms: (record.endedAt?.getTime() ?? Date.now()) - record.createdAt.getTime() },
    viewport: record.viewport,
  };
}
