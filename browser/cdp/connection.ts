import type { ProtocolMapping } from 'devtools-protocol/types/protocol-mapping.d.ts';

/** Commands and events of Chromium's protocol, with the types of their parameters. */
type Commands = ProtocolMapping.Commands;
type Events = ProtocolMapping.Events;
export type CdpCommand = keyof Commands;
export type CdpEvent = keyof Events;
export type CdpParams<M extends CdpCommand> = Commands[M]['paramsType'][0];
export type CdpResult<M extends CdpCommand> = Commands[M]['returnType'];

/** Longest wait for the answer to one command, in milliseconds: a page that hangs must not hang its callers. */
const COMMAND_TIMEOUT_MS = 30_000;

/** A command that Chromium answered with an error, or could not answer. `method` names it; parameters are not kept. */
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

/** Something that carries whole protocol messages both ways. */
export interface CdpTransport {
  send(message: string): void;
  onMessage(listener: (message: string) => void): void;
  onClose(listener: () => void): void;
  close(): void;
}

/** A typed connection to one Chromium. `sessionId` addresses a target (flat sessions); absent, the browser itself. */
export interface CdpConnection {
  send<M extends CdpCommand>(method: M, params?: CdpParams<M>, sessionId?: string): Promise<CdpResult<M>>;
  /** Calls back for each event; the answer ends the subscription. */
  on<E extends CdpEvent>(event: E, listener: (params: Events[E][0], sessionId: string | undefined) => void): () => void;
  /** Resolves once the connection has ended, for whatever cause. */
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

/** Speaks the protocol over a transport. Commands sent after the end reject with reason `closed`. */
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
    close: () => {
      transport.close();
    },
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
          resolve: (result) => {
            resolve(result as CdpResult<M>);
          },
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
