import type { BidiProxy } from './bidi/proxy.ts';
import type { CdpProxy } from './cdp/proxy.ts';
import type { SessionTokens } from './cdp/token.ts';
import type { LiveView } from './live/live-view.ts';
import type { Logger } from './logger.ts';
import type { BrowserPools } from './pools/pools.ts';
import type { ProfileRecords } from './profile/profile-store.ts';
import type { Programs } from './programs/programs.ts';
import type { ReplayStore } from './replay/replay-store.ts';
import type { Replays } from './replay/replays.ts';
import type { SessionProfiles, SessionLifecycle } from './session/lifecycle.ts';
import type { SessionRegistry } from './session/registry.ts';
import type { ProxyStore } from './session/session-proxy.ts';
import type { EgressPolicy } from '../egress/policy.ts';

/** Dependencies of the browser service's routes. */
export interface BrowserDeps {
  apiKey: string;
  registry: SessionRegistry;
  lifecycle: SessionLifecycle;
  pools: BrowserPools;
  profiles: SessionProfiles;
  /** Null unless the service stores profiles itself. */
  profileRecords: ProfileRecords | null;
  proxies: ProxyStore;
  tokens: SessionTokens;
  cdpProxy: CdpProxy;
  bidiProxy: BidiProxy;
  liveView: LiveView;
  replays: Replays;
  replayStore: ReplayStore;
  programs: Programs;
  policy: EgressPolicy;
  logger: Logger;
}
