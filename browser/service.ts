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
import { possibleWindows } from './chromium/display.ts';
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
import { watchProjects } from './session/closed-projects.ts';
import { createSessionRegistry, sessionsThatFit } from './session/registry.ts';
import { openSessionSpace } from './session/space.ts';
import type { ProxyStore } from './session/session-proxy.ts';

/** How a browser service is set up. */
export interface BrowserServiceOptions {
  /** 0 takes a free port. */
  port: number;
  /** Loopback by default: callers reach it through the API. */
  host?: string;
  /** Bearer key of its callers. */
  apiKey: string;
  chromiumPath: string;
  /** Folder for the private, temporary folders of browsers, which go with their sessions, and for replays. */
  workDir: string;
  /** How long replays are kept, in milliseconds; a week by default. */
  replaysKeptMs?: number;
  /** How long events of telemetry are kept, in milliseconds; a week by default. */
  telemetryKeptMs?: number;
  /** Most sessions at a time; by default as many as fit into memory. */
  maxSessions?: number;
  /** Browsers of the usual kind that are kept started: 1 by default, 0 for none. */
  warmBrowsers?: number;
  /** Which sessions get a window, where Xvfb is installed: by default those that do not say otherwise. */
  windows?: WindowPolicy;
  /** Chromium's own sandbox cannot run as root: by default off for root, on for everybody else. */
  noSandbox?: boolean;
  /** Run the processes of sessions on the machine itself where nothing can isolate them; off by default. */
  allowUnsandboxedProcesses?: boolean;
  /** Give isolated processes the machine's network, past the egress proxy; off by default. */
  processNetwork?: boolean;
  /** What a program of a session may take, where it differs from the usual. */
  processLimits?: Partial<ProcessLimits>;
  policy: EgressPolicy;
  /** Name resolution of the egress proxies; the machine's own by default. */
  resolver?: Resolver;
  profiles: ProfileStore;
  /** Given, the service serves `/profiles` itself: for one that no API stands before. */
  profileRecords?: ProfileRecords;
  proxies: ProxyStore;
  extensions: ExtensionStore;
  /** How many sessions a project may have at a time, null for no limit; none has one by default. */
  sessionLimit?: (projectId: string) => Promise<number | null>;
  /** Those of some projects that were archived or deleted, whose sessions end within seconds; by default none ever is. */
  closedProjects?: (projectIds: readonly string[]) => Promise<string[]>;
  /** How often that is asked, in milliseconds. */
  closedProjectsEveryMs?: number;
  /** Where browser pools are kept; they are filled when the service starts. */
  pools: PoolStore;
  logger?: Logger;
}

/** A running browser service. */
export interface BrowserServiceHandle {
  /** For example `http://127.0.0.1:8082`. */
  url: string;
  /** Ends every session (saving profiles that are to be saved), then the service. */
  close(): Promise<void>;
}

/** How often replays that are too old are removed, in milliseconds. */
const REPLAYS_SWEPT_EVERY_MS = 60 * 60_000;
/** How long telemetry is kept where nothing else is said, and how often a step of what is older goes, in milliseconds. */
const TELEMETRY_KEPT_MS = 7 * 24 * 60 * 60_000;
const TELEMETRY_SWEPT_EVERY_MS = 60_000;

/** The browsers that are kept started: what logins and health checks ask for. */
const WARM_CHOICES: LaunchChoices = { headless: true, stealth: true, kioskMode: false, policy: null };

/** Starts the browser service. Rejects when Chromium cannot be run or the port is taken. */
export async function startBrowserService(options: BrowserServiceOptions): Promise<BrowserServiceHandle> {
  const logger = options.logger ?? pino({ name: 'browser' });
  const workDir = path.resolve(options.workDir);
  const [binary, leftovers, windows, isolation] = await Promise.all([
    inspectChromium(options.chromiumPath),
    removeLeftovers(workDir),
    possibleWindows(options.windows ?? 'default'),
    chooseIsolation({
      workDir,
      allowUnsandboxed: options.allowUnsandboxedProcesses ?? false,
      network: options.processNetwork ?? false,
      limits: { ...DEFAULT_LIMITS, ...options.processLimits },
    }),
  ]);
  if (leftovers.processes > 0) logger.warn({ processes: leftovers.processes }, 'killed leftover browser processes');

  if (isolation === null) logger.warn({}, 'no sandbox available; process operations are disabled');
  if (isolation?.kind === 'none') logger.warn({}, 'processes of sessions run on the machine itself, as was allowed');

  const noSandbox = options.noSandbox ?? process.getuid?.() === 0;
  // One for each browser: a session's proxy is its own, and a browser that waits in the pool can be given one.
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
  const registry = createSessionRegistry(options.maxSessions ?? sessionsThatFit());
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
    openSpace: (chromium) => openSessionSpace(isolation, chromium),
  });
  const { policy, proxies, extensions } = options;
  const pools = createBrowserPools({
    store: options.pools,
    registry,
    definitions: createDefinitionReader({ policy, windows, profiles: options.profiles, proxies, extensions }),
    browsers: createPoolBrowsers({ lifecycle, registry, profiles: options.profiles }),
  });
  const replayStore = createReplayStore(path.join(workDir, 'replays'), options.replaysKeptMs);
  await Promise.all([replayStore.tidy(Date.now()), removeStaleArchives(programsFolder(workDir))]);
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
      : watchProjects({ registry, lifecycle, logger, closedProjects, ...(everyMs === undefined ? {} : { everyMs }) });
  // What a full or broken disk leaves is removed an hour later.
  const sweeping = setInterval(
    () => void replayStore.removeOld(Date.now()).catch(() => undefined),
    REPLAYS_SWEPT_EVERY_MS,
  ).unref();
  const { telemetryKeptMs = TELEMETRY_KEPT_MS } = options;
  const forgetting = setInterval(
    () => lifecycle.forgetTelemetryBefore(Date.now() - telemetryKeptMs),
    TELEMETRY_SWEPT_EVERY_MS,
  ).unref();
  const close = async (): Promise<void> => {
    clearInterval(sweeping);
    clearInterval(forgetting);
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
