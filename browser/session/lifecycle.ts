import { randomBytes } from 'node:crypto';
import type { BrowserCreate } from '../../contract/browsers.ts';
import { HoldfastError } from '../../contract/errors.ts';
import type { WindowPolicy } from '../chromium/display.ts';
import type { LaunchChoices } from '../chromium/flags.ts';
import { resizeViewport, type Chromium } from '../chromium/launch.ts';
import type { WarmPool } from '../chromium/warm-pool.ts';
import { createInputState } from '../computer/device.ts';
import { resolveExtensions, loadStoredExtensions, type ExtensionStore } from '../extensions/stored-extensions.ts';
import type { Logger } from '../logger.ts';
import type { AttachedProfile } from '../profile/profile-store.ts';
import { createEndedLogs } from '../telemetry/event-log.ts';
import { superviseMonitor } from '../telemetry/monitor/supervise.ts';
import { createActivityClock } from './activity.ts';
import { assertWindowAvailable, createSessionRecord, type SessionKind } from './new-session.ts';
import type { SessionRegistry } from './registry.ts';
import { resolveProxy, applyProxy, type ProxyStore } from './session-proxy.ts';
import { createQueue, type Session, type SessionEnd, type SessionRecord } from './session.ts';
import type { Workspace } from './workspace.ts';

/** Loads profiles into sessions and saves them. */
export interface SessionProfiles {
  /** Loads a profile into a browser; `fresh` means the browser is unused so far. Throws `not_found`. */
  attach(
    session: Pick<Session, 'chromium' | 'record'>,
    ref: NonNullable<BrowserCreate['profile']>,
    fresh: boolean,
  ): Promise<AttachedProfile>;
  /** Saves the changes the session made. */
  save(session: Session, profile: AttachedProfile): Promise<void>;
}

/** Starts and ends sessions. */
export interface SessionLifecycle {
  create(projectId: string, request: BrowserCreate, kind?: SessionKind): Promise<Session>;
  /**
   * Ends a session as `released` and opens a new one on the same browser, keeping the browser's state and applying the
   * viewport, timeout and telemetry of `request`. Rejects if the browser is no longer available.
   */
  renew(session: Session, request: BrowserCreate): Promise<Session>;
  /**
   * Ends a session, saving its profile first if requested. Concurrent calls share one result. Rejects if saving failed;
   * the session has ended even then, unless it was being deleted and can still be retried.
   */
  end(session: Session, cause: SessionEnd): Promise<void>;
  endAll(): Promise<void>;
  /** Drops telemetry from before `moment` (epoch ms), of running and ended sessions, in small steps. */
  forgetTelemetryBefore(moment: number): void;
}

interface LifecycleDeps {
  registry: SessionRegistry;
  pool: WarmPool;
  launch: (name: string, choices: LaunchChoices, viewport: { width: number; height: number }) => Promise<Chromium>;
  windows: WindowPolicy;
  /** Creates the workspace of a session. */
  openWorkspace: (chromium: Chromium) => Promise<Workspace>;
  profiles: SessionProfiles;
  proxies: ProxyStore;
  extensions: ExtensionStore;
  /** Concurrent sessions allowed per project; null for no limit. */
  sessionLimit: (projectId: string) => Promise<number | null>;
  logger: Logger;
}

/** Creates the lifecycle of this service's sessions. */
export function createSessionLifecycle(deps: LifecycleDeps): SessionLifecycle {
  const { registry, logger } = deps;
  const ends = new WeakMap<Session, Promise<void>>();
  const endedLogs = createEndedLogs();

  const end = (session: Session, cause: SessionEnd): Promise<void> => {
    const pending = ends.get(session) ?? endOnce(session, cause);
    ends.set(session, pending);
    return pending;
  };

  const endOnce = async (session: Session, cause: SessionEnd): Promise<void> => {
    const { chromium } = session;
    const resume = session.activity.begin();
    const saveError = cause === 'crashed' ? null : await saveProfile(session);
    if (saveError !== null && cause === 'deleted' && !chromium.hasExited()) {
      // Nothing is lost yet: keep the session, so that deleting it again retries the save.
      ends.delete(session);
      resume();
      throw saveError;
    }
    await endWithoutBrowser(session, cause);
    await chromium.dispose();
    if (saveError !== null) throw saveError;
  };

  /** Ends everything of a session except its browser. */
  const endWithoutBrowser = async (session: Session, cause: SessionEnd): Promise<void> => {
    const { record } = session;
    session.activity.stop();
    record.endedAt = new Date();
    record.endedBy = cause;
    registry.retire(session);
    if (cause === 'crashed') reportCrash(session);
    for (const listener of session.onEnd) listener();
    endedLogs.keep(record.id, record.telemetry.log);
    // Before its folder is removed: running processes could still write to it.
    await session.workspace.close();
    await Promise.allSettled([...session.beforeEnd].map((finish) => finish()));
    logger.info(
      { session_id: record.id, cause, ...(cause === 'crashed' && { crash: record.crash }) },
      'browser session ended',
    );
  };

  /** Returns the error if the profile could not be saved; null if it was saved or there is nothing to save. */
  const saveProfile = async (session: Session): Promise<HoldfastError | null> => {
    const { profile } = session.record;
    if (profile?.saveChanges !== true) return null;
    try {
      await deps.profiles.save(session, profile);
      return null;
    } catch (error) {
      // The profile was deleted in the meantime.
      if (error instanceof HoldfastError && error.code === 'not_found') return null;
      logger.error(
        { session_id: session.record.id, profile_id: profile.id, error: nameOf(error) },
        'profile not saved',
      );
      return new HoldfastError('browser_error', 'The profile could not be saved; delete the session again to retry');
    }
  };

  const endInBackground = (session: Session, cause: SessionEnd): void => {
    // Failures are logged where they happen.
    end(session, cause).catch(() => undefined);
  };

  /** With `fallBackToHeadless` (no explicit request for a window), a failing display does not fail the session. */
  const startBrowser = async (record: SessionRecord, fallBackToHeadless: boolean): Promise<Chromium> => {
    const { headless, stealth, kioskMode, chromePolicy = {} } = record;
    const policy = Object.keys(chromePolicy).length === 0 ? null : chromePolicy;
    const choices: LaunchChoices = { headless, stealth, kioskMode, policy };
    const warm = await takeWarm(deps.pool, choices);
    if (warm !== null) return warm;
    try {
      return await deps.launch(folderName(record.id), choices, record.viewport);
    } catch (error) {
      if (headless || !fallBackToHeadless || !(error instanceof HoldfastError)) throw error;
      logger.warn({ session_id: record.id }, 'display failed to start; falling back to headless');
      record.headless = true;
      return startBrowser(record, false);
    }
  };

  const openSession = async (record: SessionRecord, chromium: Chromium): Promise<Session> => {
    const session: Session = {
      record,
      chromium,
      input: createInputState(),
      watchers: { live: 0, recordings: 0 },
      workspace: await deps.openWorkspace(chromium),
      beforeEnd: new Set(),
      onEnd: new Set(),
      exclusively: createQueue(),
      activity: createActivityClock(record.timeoutSeconds * 1000, () => endInBackground(session, 'timeout')),
    };
    return session;
  };

  /** Registers a session whose browser has started, and begins to monitor it. */
  const begin = async (session: Session): Promise<void> => {
    registry.add(session);
    void session.chromium.exited.then((how) => {
      session.record.crash = how;
      endInBackground(session, 'crashed');
    });
    await startMonitor(session);
  };

  const renewOnce = async (session: Session, request: BrowserCreate): Promise<Session> => {
    const { record: previous, chromium } = session;
    const kind = previous.pool === null ? {} : { pool: previous.pool };
    const record: SessionRecord = {
      ...createSessionRecord(previous.projectId, request, deps.windows, kind),
      headless: previous.headless,
      profile: previous.profile,
      proxy: previous.proxy,
    };
    await endWithoutBrowser(session, 'released');
    const release = registry.reserve(record);
    try {
      if (chromium.hasExited()) throw new HoldfastError('browser_error', 'The browser has exited');
      if (chromium.pages.active() === undefined) await chromium.cdp.send('Target.createTarget', { url: 'about:blank' });
      await resizeViewport(chromium, record.viewport);
      const renewed = await openSession(record, chromium);
      await begin(renewed);
      return renewed;
    } catch (error) {
      await chromium.dispose();
      throw error;
    } finally {
      release();
    }
  };

  const start = async (record: SessionRecord, request: BrowserCreate): Promise<Session> => {
    const proxy = await resolveProxy(deps.proxies, record.projectId, request);
    const extensions = await resolveExtensions(deps.extensions, record.projectId, request.extensions ?? []);
    record.proxy = proxy?.view ?? null;
    const chromium = await startBrowser(record, request.headless === undefined);
    try {
      if (proxy !== undefined) applyProxy(chromium.egress, proxy);
      await resizeViewport(chromium, record.viewport);
      if (request.profile !== undefined) {
        record.profile = await deps.profiles.attach({ chromium, record }, request.profile, true);
      }
      const session = await openSession(record, chromium);
      await loadStoredExtensions(session, extensions).catch(async (error: unknown) => {
        session.activity.stop();
        await session.workspace.close();
        throw error;
      });
      return session;
    } catch (error) {
      await chromium.dispose();
      throw error;
    }
  };

  return {
    end,
    forgetTelemetryBefore: (moment) => {
      const micros = moment * 1000;
      for (const { record } of registry.sessions()) record.telemetry.log.forgetBefore(micros);
      endedLogs.forgetBefore(micros);
    },
    renew: (session, request) => {
      if (ends.has(session)) return Promise.reject(new HoldfastError('gone', 'The browser session has ended'));
      const renewed = renewOnce(session, request);
      const settled = (): void => undefined;
      ends.set(session, renewed.then(settled, settled));
      return renewed;
    },
    create: async (projectId, request, kind = {}) => {
      assertWindowAvailable(request, deps.windows);
      const record = createSessionRecord(projectId, request, deps.windows, kind);
      const release = registry.reserve(record, await deps.sessionLimit(projectId));
      try {
        const session = await start(record, request);
        await begin(session);
        openStartUrl(session, record.startUrl);
        logger.info({ session_id: record.id, profile_id: record.profile?.id }, 'browser session started');
        return session;
      } catch (error) {
        if (error instanceof HoldfastError) throw error;
        logger.error({ session_id: record.id, error: nameOf(error) }, 'browser session failed to start');
        throw new HoldfastError('browser_error', 'The browser failed to start; retry');
      } finally {
        release();
      }
    },
    endAll: async () => {
      await Promise.allSettled(registry.sessions().map((session) => end(session, 'shutdown')));
    },
  };
}

/** Takes a browser from the pool, unless it exits at that very moment. */
async function takeWarm(pool: WarmPool, choices: LaunchChoices): Promise<Chromium | null> {
  const chromium = await pool.take(choices);
  if (chromium?.hasExited() !== true) return chromium;
  await chromium.dispose();
  return null;
}

/** Resolves when the session's pages are monitored as its telemetry selects; immediately if nothing is selected. */
async function startMonitor({ record, chromium, onEnd }: Session): Promise<void> {
  const monitor = superviseMonitor(chromium, record.telemetry);
  onEnd.add(monitor.stop);
  await monitor.settled();
}

function reportCrash({ record, chromium }: Session): void {
  record.telemetry.emit(
    'service_crashed',
    { kind: 'local_process' },
    { service_name: 'chromium', pid: chromium.pid, phase: 'running' },
  );
}

/** A unique folder name; the random part matters for prewarmed browsers, which have no session id. */
export function folderName(prefix: string): string {
  return `${prefix}-${randomBytes(4).toString('hex')}`;
}

/** Only the kind of an error is logged: third-party messages may quote page or profile contents. */
function nameOf(error: unknown): string {
  return error instanceof HoldfastError ? error.code : error instanceof Error ? error.name : 'unknown';
}

/** Navigates the active page. Fire and forget: whether it loads can be seen in the browser. */
export function openStartUrl({ chromium }: Pick<Session, 'chromium'>, url: string | undefined): void {
  const page = chromium.pages.active();
  if (url === undefined || url === '' || page === undefined) return;
  void chromium.cdp.send('Page.navigate', { url }, page.sessionId).catch(() => undefined);
}
