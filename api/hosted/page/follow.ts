import type { EventSourceMessage } from 'eventsource-parser';
import type { FlowView } from '../view.ts';
import { openStream } from './calls.ts';
import { createWatchdog, readEvents } from './event-reader.ts';

/** Longest silence on an open stream before it counts as dead, in milliseconds: the server speaks every 15 s. */
const SILENCE_MS = 40_000;
/** Waits between attempts, in milliseconds; the last one repeats. */
const BACKOFF_MS = [500, 1_000, 2_000, 4_000, 8_000, 15_000] as const;

/** What the follower tells. */
export interface FollowHandlers {
  state(view: FlowView): void;
  /** A newer flow has taken this one's place. */
  replaced(): void;
  /** The server refuses this browser: the session is over (401), gone (410) or the connection is (404). */
  refused(status: number): void;
  link(state: 'up' | 'down'): void;
}

/** A running subscription. */
export interface Follower {
  /** Tries again at once: the network or the person has come back. */
  hurry(): void;
  stop(): void;
}

/**
 * Follows the flow by server-sent events, for as long as it runs. It comes back with `Last-Event-ID` after every loss,
 * waiting longer each time. It is fetch and not EventSource, which hides the status of a refusal.
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
    const watchdog = createWatchdog(SILENCE_MS, () => connection.abort());
    try {
      const response = await openStream(
        'events',
        lastEventId === null ? {} : { 'last-event-id': String(lastEventId) },
        signal,
      );
      if ([401, 404, 410].includes(response.status)) {
        stop();
        handlers.refused(response.status);
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
      // One clean end is no loss: streams have a lifetime. The person hears of the second failure.
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
    hurry() {
      failures = 0;
      // An open stream may be dead without knowing it; to resume a living one costs one request.
      connection.abort();
      wake();
    },
    stop,
  };
}
