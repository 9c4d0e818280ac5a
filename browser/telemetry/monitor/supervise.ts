import type { Chromium } from '../../chromium/launch.ts';
import { CdpError } from '../../cdp/connection.ts';
import type { SessionTelemetry } from '../session-telemetry.ts';
import type { MonitorOptions } from './attach.ts';
import type { Monitor } from './monitor.ts';
import { runMonitor, needsMonitor } from './monitor.ts';
import { startScreenshots } from './screenshots.ts';

/** How often a monitor that was lost is started again, and the pause before each try, in milliseconds. */
const TRIES = 3;
const PAUSE_MS = 250;

/** What keeps the monitor of a session. */
export interface MonitorSupervisor {
  /** Resolves when what is selected now is watched. */
  settled(): Promise<void>;
  /** Ends all of it. */
  stop: () => void;
}

/** Source of events about capturing itself. */
const SELF = { kind: 'local_process' } as const;

/**
 * Keeps a monitor running while a category is captured that needs one, starts it again when the browser drops it, and
 * takes pictures while they are wanted. Sessions that capture nothing of the kind cost nothing.
 */
export function superviseMonitor(
  chromium: Pick<Chromium, 'cdp' | 'pages' | 'hasExited'>,
  telemetry: SessionTelemetry,
): MonitorSupervisor {
  let running: Monitor | null = null;
  let present = '';
  let stopPictures: (() => void) | null = null;
  let stopped = false;
  let starting: Promise<void> = Promise.resolve();

  const wantedNow = (): MonitorOptions => ({
    console: telemetry.captures('console'),
    network: telemetry.captures('network'),
    page: telemetry.captures('page'),
    interaction: telemetry.captures('interaction'),
    captcha: telemetry.captures('captcha'),
    typed: !telemetry.private,
  });
  const start = async (): Promise<boolean> => {
    const monitor = runMonitor(chromium, telemetry, wantedNow());
    running = monitor;
    monitor.onLost(() => {
      if (!stopped && running === monitor) void recover();
    });
    try {
      await monitor.ready;
      return true;
    } catch (error) {
      monitor.stop();
      const step = error instanceof CdpError ? error.method : 'Target.setAutoAttach';
      // A browser that has ended is told as a crash, or is nothing to tell.
      if (!stopped && !chromium.hasExited()) telemetry.emit('monitor_init_failed', SELF, { step });
      return false;
    }
  };
  const recover = async (): Promise<void> => {
    const lostAt = performance.now();
    running = null;
    telemetry.emit('monitor_disconnected', SELF, {});
    for (let attempt = 0; attempt < TRIES && !stopped && needsMonitor(wantedNow()); attempt += 1) {
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS * attempt));
      if (await start()) {
        const took = Math.round(performance.now() - lostAt);
        telemetry.emit('monitor_reconnected', SELF, { reconnect_duration_ms: took });
        return;
      }
    }
    if (!stopped) telemetry.emit('monitor_reconnect_failed', SELF, { reason: 'reconnect_exhausted' });
  };
  const adapt = (): Promise<void> => {
    const pictures = telemetry.captures('screenshot');
    if (pictures && stopPictures === null) {
      stopPictures = startScreenshots(chromium, (type, event, data, truncated) => {
        telemetry.emit(type, { kind: 'cdp', event }, data, truncated);
      });
    } else if (!pictures && stopPictures !== null) {
      stopPictures();
      stopPictures = null;
    }
    const wanted = wantedNow();
    const next = needsMonitor(wanted) ? JSON.stringify(wanted) : '';
    if (next === present) return starting;
    present = next;
    running?.stop();
    running = null;
    if (next !== '') starting = start().then(() => undefined);
    return starting;
  };

  const stopListening = telemetry.onSelect(adapt);
  void chromium.cdp.closed.then(() => {
    if (!stopped && running !== null) telemetry.emit('monitor_disconnected', SELF, {});
    stop();
  });
  const stop = (): void => {
    if (stopped) return;
    stopped = true;
    stopListening();
    stopPictures?.();
    running?.stop();
    running = null;
  };
  void adapt();
  return { stop, settled: () => starting };
}
