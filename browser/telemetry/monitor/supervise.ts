import type { Chromium } from '../../chromium/launch.ts';
import { CdpError } from '../../cdp/connection.ts';
import type { SessionTelemetry } from '../session-telemetry.ts';
import type { MonitorOptions } from './attach.ts';
import { runMonitor, needsMonitor, type Monitor } from './monitor.ts';
import type { EmitFromBrowser } from './target.ts';

/** How often a lost monitor is restarted, and the delay per attempt, in milliseconds. */
const MAX_RESTARTS = 3;
const RESTART_DELAY_MS = 250;

const SCREENSHOT_INTERVAL_MS = 5_000;
/** Largest screenshot to record, in characters of base64: a few larger ones would fill the event log. */
const MAX_SCREENSHOT_CHARACTERS = 1024 * 1024;

interface MonitorSupervisor {
  /** Resolves when the current selection is watched. */
  settled(): Promise<void>;
  stop: () => void;
}

/** Source of events about the monitor itself. */
const SELF = { kind: 'local_process' } as const;

/**
 * Keeps a monitor running while a selected category needs one, restarts it if the browser drops it, and takes screenshots if
 * selected. Sessions that select nothing of this cost nothing.
 */
export function superviseMonitor(
  chromium: Pick<Chromium, 'cdp' | 'pages' | 'hasExited'>,
  telemetry: SessionTelemetry,
): MonitorSupervisor {
  let running: Monitor | null = null;
  /** The options of the current monitor, as JSON; empty for none. */
  let currentOptions = '';
  let stopScreenshots: (() => void) | null = null;
  let stopped = false;
  let starting: Promise<void> = Promise.resolve();

  const selectedOptions = (): MonitorOptions => ({
    console: telemetry.captures('console'),
    network: telemetry.captures('network'),
    page: telemetry.captures('page'),
    interaction: telemetry.captures('interaction'),
    captcha: telemetry.captures('captcha'),
    typed: !telemetry.private,
  });
  const start = async (): Promise<boolean> => {
    const monitor = runMonitor(chromium, telemetry, selectedOptions());
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
      // A browser that has exited is reported as a crash, if at all.
      if (!stopped && !chromium.hasExited()) telemetry.emit('monitor_init_failed', SELF, { step });
      return false;
    }
  };
  const recover = async (): Promise<void> => {
    const lostAt = performance.now();
    running = null;
    telemetry.emit('monitor_disconnected', SELF, {});
    for (let attempt = 0; attempt < MAX_RESTARTS && !stopped && needsMonitor(selectedOptions()); attempt += 1) {
      await new Promise((resolve) => setTimeout(resolve, RESTART_DELAY_MS * attempt));
      if (await start()) {
        const duration = Math.round(performance.now() - lostAt);
        telemetry.emit('monitor_reconnected', SELF, { reconnect_duration_ms: duration });
        return;
      }
    }
    if (!stopped) telemetry.emit('monitor_reconnect_failed', SELF, { reason: 'reconnect_exhausted' });
  };
  const adapt = (): Promise<void> => {
    const wantsScreenshots = telemetry.captures('screenshot');
    if (wantsScreenshots && stopScreenshots === null) {
      stopScreenshots = startScreenshots(chromium, (type, event, data, truncated) => {
        telemetry.emit(type, { kind: 'cdp', event }, data, truncated);
      });
    } else if (!wantsScreenshots && stopScreenshots !== null) {
      stopScreenshots();
      stopScreenshots = null;
    }
    const options = selectedOptions();
    const next = needsMonitor(options) ? JSON.stringify(options) : '';
    if (next === currentOptions) return starting;
    currentOptions = next;
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
    stopScreenshots?.();
    running?.stop();
    running = null;
  };
  void adapt();
  return { stop, settled: () => starting };
}

/** Takes a screenshot of the active page periodically, and emits it if it has changed. Returns the stop function. */
function startScreenshots(chromium: Pick<Chromium, 'cdp' | 'pages'>, emit: EmitFromBrowser): () => void {
  let last = '';
  let busy = false;
  const capture = async (): Promise<void> => {
    const page = chromium.pages.active();
    // A page behind a dialog is not painted.
    if (busy || page === undefined || page.dialog !== null) return;
    busy = true;
    try {
      const options = { format: 'png', optimizeForSpeed: true } as const;
      const { data } = await chromium.cdp.send('Page.captureScreenshot', options, page.sessionId);
      if (data === last) return;
      last = data;
      const fits = data.length <= MAX_SCREENSHOT_CHARACTERS;
      emit('monitor_screenshot', 'Page.captureScreenshot', fits ? { png: data } : {}, !fits);
    } catch {
      // The page has closed, or cannot be painted now.
    } finally {
      busy = false;
    }
  };
  void capture();
  const timer = setInterval(() => void capture(), SCREENSHOT_INTERVAL_MS);
  timer.unref();
  return () => clearInterval(timer);
}
