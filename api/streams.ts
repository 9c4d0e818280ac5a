import { HoldfastError } from '../contract/errors.ts';

/** Most event streams that one credential, or one hosted flow, may hold open in this process. */
const MAX_STREAMS_PER_CALLER = 500;

/** One stream: `signal` aborts when it must end; call `close` when it has. */
export interface OpenStream {
  signal: AbortSignal;
  close: () => void;
}

/** The event streams that are open. They end together when the service closes: a client connects again elsewhere. */
export interface OpenStreams {
  /** Counts a stream in; `rate_limited` when the caller has too many, `unavailable` while the service closes. */
  open(callerKey: string): OpenStream;
  closeAll(): void;
}

export function createOpenStreams(): OpenStreams {
  const open = new Map<AbortController, string>();
  let closing = false;
  return {
    open(callerKey) {
      if (closing) throw new HoldfastError('unavailable', 'The service is closing; connect again');
      const held = [...open.values()].filter((key) => key === callerKey).length;
      if (held >= MAX_STREAMS_PER_CALLER) {
        throw new HoldfastError('rate_limited', 'Too many event streams are open; close one', { retryAfterSeconds: 5 });
      }
      const controller = new AbortController();
      open.set(controller, callerKey);
      return {
        signal: controller.signal,
        close: () => {
          open.delete(controller);
          controller.abort();
        },
      };
    },
    closeAll() {
      closing = true;
      for (const controller of open.keys()) controller.abort();
    },
  };
}
