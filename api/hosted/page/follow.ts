import type { EventSourceMessage } from 'eventsource-parser';
import type { FlowView } from '../view.ts';
import { createWatchdog, openStream, readEvents } from './calls.ts';

/** Delays between attempts in milliseconds; the last one repeats. */
const BACKOFF_MS = [500, 1_000, 2_000, 4_000, 8_000, 15_000] as const;

/** Callbacks of a follower. */
export interface FollowHandlers {
  state(view: FlowView): void;
  /** A newer flow has started. */
  replaced(): void;
  /** The server rejects this browser: the session has expired (401), was replaced (410) or the connection is gone (404). */
  rejected(status: number): void;
  link(state: 'up' | 'down'): void;
}

/** A running subscription. */
export interface Follower {
  /** Reconnects at once, after the network or the person has come back. */
  reconnect(): void;
  stop(): void;
}

/**
 * Follows the flow with server-sent events while it runs. Reconnects with `Last-Event-ID` after every loss, with backoff. Uses
 * fetch because EventSource hides the status of a rejection.
 */
export function follow(handlers: FollowHandlers): Follower {
  let lastEventId: number | null = null;
  let failures = 0;
  let stopped = false;
  const isStopped = () => stopped;
  let connection = new AbortController();
  let wake: () => void = () => undefined;

  const onEvent = (event: EventSourceMessage) => {
    if (event.event === 'replaced') {
      stop();
      handlers.replaced();
    } else if (event.event === 'state') {
      if (event.id !== undefined && /^\d+$/.test(event.id)) lastEventId = Number(event.id);
      const view = JSON.parse(event.data) as FlowView;
      if (view.status !== 'IN_PROGRESS') stop();
      handlers.state(view);
    }
  };

  const connectOnce = async () => {
    connection = new AbortController();
    const { signal } = connection;
    const watchdog = createWatchdog(() => connection.abort());
    try {
      const response = await openStream(
        'events',
        lastEventId === null ? {} : { 'last-event-id': String(lastEventId) },
        signal,
      );
      if ([401, 404, 410].includes(response.status)) {
        stop();
        handlers.rejected(response.status);
        return;
      }
      if (!response.ok) throw new Error(`status ${response.status}`);
      handlers.link('up');
      await readEvents(response, watchdog.feed, (event) => {
        failures = 0;
        onEvent(event);
      });
    } finally {
      watchdog.stop();
      connection.abort();
    }
  };

  const run = async () => {
    for (;;) {
      await connectOnce().catch(() => undefined);
      if (isStopped()) return;
      const wait = BACKOFF_MS[Math.min(failures, BACKOFF_MS.length - 1)] ?? 15_000;
      failures += 1;
      // A single clean end is expected: streams have a lifetime. Only the second failure is reported.
      if (failures > 1) handlers.link('down');
      await new Promise<void>((resolve) => {
        wake = resolve;
        setTimeout(resolve, wait * (0.8 + Math.random() * 0.4));
      });
    }
  };

  const stop = () => {
    stopped = true;
    connection.abort();
    wake();
  };

  void run();
  return {
    reconnect() {
      failures = 0;
      // An open stream may be dead without knowing; resuming a live one costs one request.
      connection.abort();
      wake();
    },
    stop,
  };
}
