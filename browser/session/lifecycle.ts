import { randomBytes } from 'node:crypto';
import type { BrowserCreate } from '../../contract/browsers.ts';
import { HoldfastError } from '../../contract/errors.ts';
import type { WindowPolicy } from '../chromium/display.ts';
import type { LaunchChoices } from '../chromium/flags.ts';
import type { Chromium } from '../chromium/launch.ts';
import { resizeViewport } from '../chromium/viewport.ts';
import type { WarmPool } from '../chromium/warm-pool.ts';
import { createInputState } from '../computer/device.ts';
import { resolveExtensions, loadStoredExtensions, type ExtensionStore } from '../extensions/stored-extensions.ts';
import type { Logger } from '../logger.ts';
import type { AttachedProfile } from '../profile/profile-store.ts';
import { createEndedLogs } from '../telemetry/event-log.ts';
import { superviseMonitor } from '../telemetry/monitor/supervise.ts';
import { createActivityClock } from './activity.ts';
import { assertWindows, newRecord, type SessionKind } from './new-record.ts';
import type { SessionRegistry } from './registry.ts';
import type { ProxyStore } from './session-proxy.ts';
import { resolveProxy, applyProxy } from './session-proxy.ts';
import type { Session, SessionEnd, SessionRecord } from './session.ts';
import { createQueue } from './session.ts';
import type { SessionSpace } from './space.ts';

/** Profiles as the life of a session needs them. */
export interface SessionProfiles {
  /**
   * Loads a profile into a browser; `fresh` when nobody has used the browser yet. Throws `not_found`.
   */
  attach(
    session: Pick<Session, 'chromium' | 'record'>,
    ref: NonNullable<BrowserCreate['profile']>,
    fresh: boolean,
  ): Promise<AttachedProfile>;
  /** Saves what the session changed. */
  save(session: Session, profile: AttachedProfile): Promise<void>;
}

/** Starts and ends sessions. */
export interface SessionLifecycle {
  create(projectId: string, request: BrowserCreate, kind?: SessionKind): Promise<Session>;
  /**
   * Ends a session as its release, and opens another over the same browser, which keeps what was done in it but what
   * `request` sets: its viewport, time-out and telemetry. Rejects when the browser is gone, or cannot be had again.
   */
  renew(session: Session, request: BrowserCreate): Promise<Session>;
  /**
   * Ends a session, saving its profile first when it is to be saved. Calls at the same time share one end. Rejects when
   * saving failed; the session has ended all the same.
   */
  end(session: Session, cause: SessionEnd): Promise<void>;
  endAll(): Promise<void>;
  /** Forgets telemetry from before a moment (Unix milliseconds), of sessions that run and that have ended, in small steps. */
  forgetTelemetryBefore(moment: number): void;
}

/** What {@link createSessionLifecycle} needs. */
export interface LifecycleDeps {
  registry: SessionRegistry;
  pool: WarmPool;
  launch: (name: string, choices: LaunchChoices, viewport: { width: number; height: number }) => Promise<Chromium>;
  windows: WindowPolicy;
  /** Makes the place for a session's files and processes. */
  openSpace: (chromium: Chromium) => Promise<SessionSpace>;
  profiles: SessionProfiles;
  proxies: ProxyStore;
  extensions: ExtensionStore;
  /** How many sessions a project may have at a time; null for no limit. */
  sessionLimit: (projectId: string) => Promise<number | null>;
  logger: Logger;
}

export function createSessionLifecycle(deps: LifecycleDeps): SessionLifecycle {
  const { registry, logger } = deps;
  const ends = new WeakMap<Session, Promise<void>>();
  const endedLogs = createEndedLogs();

  const end = (session: Session, cause: SessionEnd): Promise<void> => {
    const running = ends.get(session);
    if (running !== undefined) return running;
    const ending = endOnce(session, cause);
    ends.set(session, ending);
    return ending;
  };

  const endOnce = async (session: Session, cause: SessionEnd): Promise<void> => {
    const { chromium } = session;
    const resume = session.activity.begin();
    const fault = cause === 'crashed' ? null : await saveProfile(session);
    if (fault !== null && cause === 'deleted' && !chromium.hasExited()) {
      // Nothing is lost yet: the session stays, and deleting it again tries again.
      ends.delete(session);
      resume();
      throw fault;
    }
    await leaveBrowser(session, cause);
    await chromium.dispose();
    if (fault !== null) throw fault;
  };

  /** Ends all of a session but its browser. */
  const leaveBrowser = async (session: Session, cause: SessionEnd): Promise<void> => {
    const { record } = session;
    session.activity.stop();
    record.endedAt = new Date();
    record.endedBy = cause;
    registry.retire(session);
    if (cause === 'crashed') reportCrash(session);
    for (const tell of session.onEnd) tell();
    endedLogs.keep(record.id, record.telemetry.log);
    // Before its folder goes: what still runs could write into it.
    await session.space.close();
    await Promise.allSettled([...session.beforeEnd].map((finish) => finish()));
    logger.info(
      { session_id: record.id, cause, ...(cause === 'crashed' && { crash: record.crash }) },
      'browser session ended',
    );
  };

  /** Null when there is nothing to save, or it is saved; else why it could not be. */
  const saveProfile = async (session: Session): Promise<HoldfastError | null> => {
    const { profile } = session.record;
    if (profile?.saveChanges !== true) return null;
    try {
      await deps.profiles.save(session, profile);
      return null;
    } catch (error) {
      // The profile was deleted meanwhile: there is nothing to save to.
      if (error instanceof HoldfastError && error.code === 'not_found') return null;
      logger.error(
        { session_id: session.record.id, profile_id: profile.id, error: nameOf(error) },
        'profile not saved',
      );
      return new HoldfastError('browser_error', 'The profile could not be saved; delete the session again to retry');
    }
  };

  const endQuietly = (session: Session, cause: SessionEnd): void => {
    // What went wrong is logged where it happened.
    end(session, cause).catch(() => undefined);
  };

  /** `mayDoWithout`: nobody asked for a window by name, so one that cannot be had is no reason to have no session. */
  const startBrowser = async (record: SessionRecord, mayDoWithout: boolean): Promise<Chromium> => {
    const { headless, stealth, kioskMode, chromePolicy = {} } = record;
    const policy = Object.keys(chromePolicy).length === 0 ? null : chromePolicy;
    const choices: LaunchChoices = { headless, stealth, kioskMode, policy };
    const warm = await takeWarm(deps.pool, choices);
    if (warm !== null) return warm;
    try {
      return await deps.launch(folderName(record.id), choices, record.viewport);
    } catch (error) {
      if (headless || !mayDoWithout || !(error instanceof HoldfastError)) throw error;
      logger.warn({ session_id: record.id }, 'no display could be started; the session runs without a window');
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
      space: await deps.openSpace(chromium),
      beforeEnd: new Set(),
      onEnd: new Set(),
      exclusively: createQueue(),
      activity: createActivityClock(record.timeoutSeconds * 1000, () => {
        endQuietly(session, 'timeout');
      }),
    };
    return session;
  };

  /** Lets a session that has its browser begin. */
  const begin = async (session: Session): Promise<void> => {
    registry.add(session);
    void session.chromium.exited.then((how) => {
      session.record.crash = how;
      endQuietly(session, 'crashed');
    });
    await startMonitor(session);
  };

  const renewOnce = async (session: Session, request: BrowserCreate): Promise<Session> => {
    const { record: former, chromium } = session;
    const record: SessionRecord = {
      ...newRecord(former.projectId, request, deps.windows, former.pool === null ? {} : { pool: former.pool }),
      headless: former.headless,
      profile: former.profile,
      proxy: former.proxy,
    };
    await leaveBrowser(session, 'released');
    const release = registry.reserve(record);
    try {
      if (chromium.hasExited()) throw new HoldfastError('browser_error', 'The browser has ended');
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
    const way = await resolveProxy(deps.proxies, record.projectId, request);
    const extensions = await resolveExtensions(deps.extensions, record.projectId, request.extensions ?? []);
    record.proxy = way?.shown ?? null;
    const chromium = await startBrowser(record, request.headless === undefined);
    try {
      if (way !== undefined) applyProxy(chromium.egress, way);
      await resizeViewport(chromium, record.viewport);
      if (request.profile !== undefined) {
        record.profile = await deps.profiles.attach({ chromium, record }, request.profile, true);
      }
      const session = await openSession(record, chromium);
      await loadStoredExtensions(session, extensions).catch(async (error: unknown) => {
        session.activity.stop();
        await session.space.close();
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
      ends.set(
        session,
        renewed.then(
          () => undefined,
          () => undefined,
        ),
      );
      return renewed;
    },
    create: async (projectId, request, kind = {}) => {
      assertWindows(request, deps.windows);
      const record = newRecord(projectId, request, deps.windows, kind);
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

/** A browser of the pool that still runs: one may die in the moment it is taken. */
async function takeWarm(pool: WarmPool, choices: LaunchChoices): Promise<Chromium | null> {
  const chromium = await pool.take(choices);
  if (chromium?.hasExited() !== true) return chromium;
  await chromium.dispose();
  return null;
}

/** Resolves when the session's pages are watched as its telemetry wants it: at once where it wants nothing of them. */
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

/** Folders of browsers that waited in the pool have no session's id; a random part keeps all names apart. */
export function folderName(prefix: string): string {
  return `${prefix}-${randomBytes(4).toString('hex')}`;
}

/** Only the kind of an error is logged: messages of foreign errors may quote what a page or a profile holds. */
function nameOf(error: unknown): string {
  return error instanceof HoldfastError ? error.code : error instanceof Error ? error.name : 'unknown';
}

/** Sends the page in use to an address. Fire and forget: whether it loads is seen in the browser. */
export function openStartUrl({ chromium }: Pick<Session, 'chromium'>, url: string | undefined): void {
  const page = chromium.pages.active();
  if (url === undefined || url === '' || page === undefined) return;
  void chromium.cdp.send('Page.navigate', { url }, page.sessionId).catch(() => undefined);
}
