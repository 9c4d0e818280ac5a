import type { Readable, Writable } from 'node:stream';
import type { ProtocolMapping } from 'devtools-protocol/types/protocol-mapping.d.ts';

type Commands = ProtocolMapping.Commands;
type Events = ProtocolMapping.Events;
/** Names, parameters and results of CDP commands and events. */
export type CdpCommand = keyof Commands;
export type CdpEvent = keyof Events;
export type CdpParams<M extends CdpCommand> = Commands[M]['paramsType'][0];
type CdpResult<M extends CdpCommand> = Commands[M]['returnType'];

/** Timeout of a command, in milliseconds: a hung page must not hang its callers. */
const COMMAND_TIMEOUT_MS = 30_000;

/** A failed command: Chromium refused or did not answer it. Holds the method name, but no parameters. */
export class CdpError extends Error {
  override readonly name = 'CdpError';
  readonly method: string;
  readonly reason: 'refused' | 'timeout' | 'closed';

  constructor(method: string, reason: 'refused' | 'timeout' | 'closed', message: string) {
    super(`${method}: ${message}`);
    this.method = method;
    this.reason = reason;
  }
}

/** Carries whole protocol messages both ways. */
interface CdpTransport {
  send(message: string): void;
  onMessage(listener: (message: string) => void): void;
  onClose(listener: () => void): void;
  close(): void;
}

/** A typed connection to a Chromium. `sessionId` addresses a target (flat sessions); without it, the browser itself. */
export interface CdpConnection {
  send<M extends CdpCommand>(method: M, params?: CdpParams<M>, sessionId?: string): Promise<CdpResult<M>>;
  /** Subscribes to an event; returns the unsubscribe function. */
  on<E extends CdpEvent>(event: E, listener: (params: Events[E][0], sessionId: string | undefined) => void): () => void;
  /** Resolves once the connection has closed, for any reason. */
  readonly closed: Promise<void>;
  close(): void;
}

interface Incoming {
  id?: number;
  method?: string;
  params?: unknown;
  sessionId?: string;
  result?: unknown;
  error?: { message?: string };
}

interface Pending {
  method: string;
  timer: NodeJS.Timeout;
  resolve(result: unknown): void;
  reject(error: CdpError): void;
}

/** Creates a CDP connection over a transport. Commands sent after it closed reject with reason `closed`. */
export function createCdpConnection(transport: CdpTransport): CdpConnection {
  const pending = new Map<number, Pending>();
  const listeners = new Map<string, Set<(params: never, sessionId: string | undefined) => void>>();
  let lastId = 0;
  let open = true;
  const closed = new Promise<void>((resolve) => {
    transport.onClose(() => {
      open = false;
      for (const command of pending.values()) {
        clearTimeout(command.timer);
        command.reject(new CdpError(command.method, 'closed', 'the browser has exited'));
      }
      pending.clear();
      resolve();
    });
  });

  transport.onMessage((text) => {
    const message = JSON.parse(text) as Incoming;
    if (message.id === undefined) {
      for (const listener of listeners.get(message.method ?? '') ?? []) {
        listener(message.params as never, message.sessionId);
      }
      return;
    }
    const command = pending.get(message.id);
    if (command === undefined) return;
    pending.delete(message.id);
    clearTimeout(command.timer);
    if (message.error === undefined) command.resolve(message.result);
    else command.reject(new CdpError(command.method, 'refused', message.error.message ?? 'refused'));
  });

  return {
    closed,
    close: () => transport.close(),
    send: <M extends CdpCommand>(method: M, params?: CdpParams<M>, sessionId?: string): Promise<CdpResult<M>> =>
      new Promise((resolve, reject) => {
        if (!open) {
          reject(new CdpError(method, 'closed', 'the browser has exited'));
          return;
        }
        const id = ++lastId;
        const timer = setTimeout(() => {
          pending.delete(id);
          reject(new CdpError(method, 'timeout', 'timed out'));
        }, COMMAND_TIMEOUT_MS);
        timer.unref();
        pending.set(id, {
          method,
          timer,
          reject,
          resolve: (result) => resolve(result as CdpResult<M>),
        });
        transport.send(JSON.stringify({ id, method, params: params ?? {}, sessionId }));
      }),
    on: (event, listener) => {
      const set = listeners.get(event) ?? new Set();
      listeners.set(event, set);
      set.add(listener);
      return () => set.delete(listener);
    },
  };
}

/**
 * The transport of `--remote-debugging-pipe`: a pair of pipes with zero-terminated messages. Chromium exits when the pipe
 * closes, so a crashed service leaves no browser behind.
 */
export function createPipeTransport(toBrowser: Writable, fromBrowser: Readable): CdpTransport {
  let chunks: Buffer[] = [];
  let onMessage: (message: string) => void = () => undefined;
  const onClose: (() => void)[] = [];
  let closed = false;
  const end = (): void => {
    if (closed) return;
    closed = true;
    for (const listener of onClose) listener();
  };

  fromBrowser.on('data', (data: Buffer) => {
    let start = 0;
    for (let end = data.indexOf(0); end !== -1; end = data.indexOf(0, start)) {
      chunks.push(data.subarray(start, end));
      const message = (chunks.length === 1 ? chunks[0] : Buffer.concat(chunks))?.toString('utf8');
      chunks = [];
      start = end + 1;
      if (message !== undefined) onMessage(message);
    }
    if (start < data.length) chunks.push(data.subarray(start));
  });
  fromBrowser.on('close', end).on('error', end);
  // Writing to a browser that has just exited raises EPIPE here.
  toBrowser.on('error', end).on('close', end);

  return {
    send: (message) => {
      if (!closed) toBrowser.write(`${message}\0`);
    },
    onMessage: (listener) => {
      onMessage = listener;
    },
    onClose: (listener) => onClose.push(listener),
    close: () => {
      toBrowser.destroy();
      fromBrowser.destroy();
      end();
    },
  };
}
