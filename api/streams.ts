import { HoldfastError } from '../contract/errors.ts';

/** Maximum open event streams per credential or hosted flow, in this process. */
const MAX_STREAMS_PER_CALLER = 500;

/** An open stream: `signal` aborts when it must end; call `close` once it has ended. */
export interface OpenStream {
  signal: AbortSignal;
  close: () => void;
}

/** The open event streams of this process. All end when the service shuts down; clients reconnect elsewhere. */
export interface OpenStreams {
  /** Registers a stream. Throws `rate_limited` if the caller has too many, `unavailable` during shutdown. */
  open(callerKey: string): OpenStream;
  closeAll(): void;
}

/** Creates the registry of open streams of one process. */
export function createOpenStreams(): OpenStreams {
  const open = new Map<AbortController, string>();
  let closing = false;
  return {
    open(callerKey) {
      if (closing) throw new HoldfastError('unavailable', 'The service is shutting down; reconnect');
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
