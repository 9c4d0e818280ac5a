import path from 'node:path';
import { pino } from 'pino';
import type { EgressPolicy } from '../egress/policy.ts';
import { startEgressProxy, type EgressProxy } from '../egress/proxy.ts';
import type { Resolver } from '../egress/resolve.ts';
import { DEFAULT_VIEWPORT } from '../contract/browsers.ts';
import { createBrowserService } from './app.ts';
import { createBidiProxy } from './bidi/proxy.ts';
import { createCdpProxy } from './cdp/proxy.ts';
import { createSessionTokens } from './cdp/token.ts';
import { inspectChromium } from './chromium/binary.ts';
import type { LaunchChoices } from './chromium/flags.ts';
import type { Chromium } from './chromium/launch.ts';
import { launchChromium } from './chromium/launch.ts';
import type { WindowPolicy } from './chromium/display.ts';
import { supportedWindowPolicy } from './chromium/display.ts';
import { removeLeftovers } from './chromium/user-data.ts';
import { createWarmPool } from './chromium/warm-pool.ts';
import type { ExtensionStore } from './extensions/stored-extensions.ts';
import { createLiveView } from './live/live-view.ts';
import type { Logger } from './logger.ts';
import type { ProcessLimits } from './process/limits.ts';
import { DEFAULT_LIMITS } from './process/limits.ts';
import { chooseIsolation } from './process/choose-isolation.ts';
import type { ProfileRecords, ProfileStore } from './profile/profile-store.ts';
import { createSessionProfiles } from './profile/session-profiles.ts';
import { createPrograms, programsFolder } from './programs/programs.ts';
import { removeStaleArchives } from './programs/received-archives.ts';
import { findTools } from './programs/tools.ts';
import { createReplayStore } from './replay/replay-store.ts';
import { createReplays } from './replay/replays.ts';
import { createDefinitionReader } from './pools/definition.ts';
import { createPoolBrowsers } from './pools/pool-browsers.ts';
import { createBrowserPools, type PoolStore } from './pools/pools.ts';
import { createSessionLifecycle, folderName } from './session/lifecycle.ts';
import { endSessionsOfClosedProjects } from './session/closed-projects.ts';
import { createSessionRegistry, defaultMaxSessions } from './session/registry.ts';
import { openWorkspace } from './session/workspace.ts';
import type { ProxyStore } from './session/session-proxy.ts';

/** Options of a browser service. */
export interface BrowserServiceOptions {
  /** 0 for any free port. */
  port: number;
  /** Loopback by default, because callers use the API. */
  host?: string;
  /** Bearer token that callers send. */
  apiKey: string;
  chromiumPath: string;
  /** Folder for the temporary files of sessions, programs and replays. */
  workDir: string;
  /** Retention of replays, in milliseconds; a week by default. */
  replaysKeptMs?: number;
  /** Retention of telemetry events, in milliseconds; a week by default. */
  telemetryKeptMs?: number;
  /** Most concurrent sessions; by default as many as fit into memory. */
  maxSessions?: number;
  /** Number of default browsers kept running in advance; 1 by default. */
  warmBrowsers?: number;
  /** Which sessions get a window, if Xvfb is installed; by default all that do not opt out. */
  windows?: WindowPolicy;
  /** Disables Chromium's sandbox, which cannot run as root; by default only for root. */
  noSandbox?: boolean;
  /** Runs processes of sessions on the machine itself if nothing can isolate them; off by default. */
  allowUnsandboxedProcesses?: boolean;
  /** Gives isolated processes the machine's network, bypassing the egress proxy; off by default. */
  processNetwork?: boolean;
  /** Overrides of the default resource limits of processes. */
  processLimits?: Partial<ProcessLimits>;
  policy: EgressPolicy;
  /** Name resolution of the egress proxies; the machine's by default. */
  resolver?: Resolver;
  profiles: ProfileStore;
  /** If set, the service serves `/profiles` itself, for use without the API. */
  profileRecords?: ProfileRecords;
  proxies: ProxyStore;
  extensions: ExtensionStore;
  /** Most concurrent sessions of a project, null for no limit; by default unlimited. */
  sessionLimit?: (projectId: string) => Promise<number | null>;
  /** Filters projects that were archived or deleted, whose sessions are then ended; by default none. */
  closedProjects?: (projectIds: readonly string[]) => Promise<string[]>;
  /** How often `closedProjects` is called, in milliseconds. */
  closedProjectsEveryMs?: number;
  /** Stored browser pools, which fill up when the service starts. */
  pools: PoolStore;
  logger?: Logger;
}

/** A running browser service. */
export interface BrowserServiceHandle {
  /** For example `http://127.0.0.1:8082`. */
  url: string;
  /** Ends every session, saves profiles, and stops the service. */
  close(): Promise<void>;
}

/** How often expired replays are deleted, in milliseconds. */
const REPLAY_SWEEP_MS = 60 * 60_000;
/** Default retention of telemetry, and how often expired events are dropped, in milliseconds. */
const TELEMETRY_RETENTION_MS = 7 * 24 * 60 * 60_000;
const TELEMETRY_SWEEP_MS = 60_000;

/** The kind of browsers kept running in advance: that of logins and health checks. */
const WARM_CHOICES: LaunchChoices = { headless: true, stealth: true, kioskMode: false, policy: null };

/** Starts the browser service. Rejects if Chromium cannot run or the port is in use. */
export async function startBrowserService(options: BrowserServiceOptions): Promise<BrowserServiceHandle> {
  const logger = options.logger ?? pino({ name: 'browser' });
  const workDir = path.resolve(options.workDir);
  const [binary, leftovers, windows, isolation] = await Promise.all([
    inspectChromium(options.chromiumPath),
    removeLeftovers(workDir),
    supportedWindowPolicy(options.windows ?? 'default'),
    chooseIsolation({
      workDir,
      allowUnsandboxed: options.allowUnsandboxedProcesses ?? false,
      network: options.processNetwork ?? false,
      limits: { ...DEFAULT_LIMITS, ...options.processLimits },
    }),
  ]);
  if (leftovers.processes > 0) logger.warn({ processes: leftovers.processes }, 'killed leftover browser processes');

  if (isolation === null) logger.warn({}, 'no sandbox available; process operations are disabled');
  if (isolation?.kind === 'none')
    logger.warn({}, 'processes of sessions run unsandboxed on this machine, as configured');

  const noSandbox = options.noSandbox ?? process.getuid?.() === 0;
  // One per browser: each session has its own proxy, which a waiting browser can be assigned.
  const openEgress = (): Promise<EgressProxy> =>
    startEgressProxy({
      policy: options.policy,
      ...(options.resolver === undefined ? {} : { resolver: options.resolver }),
      onRefused: ({ range }) => {
        logger.warn({ range }, 'egress denied');
      },
    });
  const launch = (
    name: string,
    choices: LaunchChoices,
    viewport: { width: number; height: number },
  ): Promise<Chromium> => launchChromium({ binary, workDir, openEgress, noSandbox }, name, choices, viewport);
  const registry = createSessionRegistry(options.maxSessions ?? defaultMaxSessions());
  const warm = createWarmPool({
    size: options.warmBrowsers ?? 1,
    choices: WARM_CHOICES,
    launch: () => launch(folderName('warm'), WARM_CHOICES, DEFAULT_VIEWPORT),
    onError: () => {
      logger.error({}, 'failed to prewarm a browser');
    },
  });
  const profiles = createSessionProfiles(options.profiles, logger);
  const lifecycle = createSessionLifecycle({
    ...{ registry, pool: warm, launch, windows, profiles, logger },
    proxies: options.proxies,
    extensions: options.extensions,
    sessionLimit: options.sessionLimit ?? (() => Promise.resolve(null)),
    openWorkspace: (chromium) => openWorkspace(isolation, chromium),
  });
  const { policy, proxies, extensions } = options;
  const pools = createBrowserPools({
    store: options.pools,
    registry,
    definitions: createDefinitionReader({ policy, windows, profiles: options.profiles, proxies, extensions }),
    browsers: createPoolBrowsers({ lifecycle, registry, profiles: options.profiles }),
  });
  const replayStore = createReplayStore(path.join(workDir, 'replays'), options.replaysKeptMs);
  await Promise.all([replayStore.recover(Date.now()), removeStaleArchives(programsFolder(workDir))]);
  const app = createBrowserService({
    apiKey: options.apiKey,
    registry,
    lifecycle,
    pools,
    profiles,
    profileRecords: options.profileRecords ?? null,
    proxies: options.proxies,
    tokens: createSessionTokens(),
    cdpProxy: createCdpProxy(),
    bidiProxy: createBidiProxy(),
    liveView: createLiveView(),
    replays: createReplays(replayStore, logger),
    replayStore,
    programs: createPrograms({ isolation, workDir, tools: findTools(), openEgress }),
    policy: options.policy,
    logger,
  });
  const { closedProjects, closedProjectsEveryMs: everyMs } = options;
  const stopWatching =
    closedProjects === undefined
      ? () => undefined
      : endSessionsOfClosedProjects({
          registry,
          lifecycle,
          logger,
          closedProjects,
          ...(everyMs === undefined ? {} : { everyMs }),
        });
  // Also retries what a full or broken disk left behind.
  const replaySweep = setInterval(
    () => void replayStore.removeExpired(Date.now()).catch(() => undefined),
    REPLAY_SWEEP_MS,
  ).unref();
  const { telemetryKeptMs = TELEMETRY_RETENTION_MS } = options;
  const telemetrySweep = setInterval(
    () => lifecycle.forgetTelemetryBefore(Date.now() - telemetryKeptMs),
    TELEMETRY_SWEEP_MS,
  ).unref();
  const close = async (): Promise<void> => {
    clearInterval(replaySweep);
    clearInterval(telemetrySweep);
    stopWatching();
    await pools.stop();
    await lifecycle.endAll();
    await Promise.all([app.close(), warm.close()]);
  };
  try {
    const url = await app.listen({ port: options.port, host: options.host ?? '127.0.0.1' });
    await pools.load();
    return { url, close };
  } catch (error) {
    await close();
    throw error;
  }
}
