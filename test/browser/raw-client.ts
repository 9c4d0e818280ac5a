import { WebSocket } from 'ws';

/** A message of the browser to a CDP client. */
export interface CdpMessage {
  id?: number;
  method?: string;
  params?: Record<string, unknown>;
  sessionId?: string;
  result?: Record<string, unknown>;
  error?: { message: string };
}

/** A low-level CDP client that can send anything and sees every message. */
export interface RawClient {
  /** All received messages, oldest first. */
  received: CdpMessage[];
  send(command: unknown): void;
  call(method: string, params?: object, sessionId?: string): Promise<CdpMessage>;
  close(): Promise<void>;
}

export async function connectRaw(url: string): Promise<RawClient> {
  const socket = new WebSocket(url);
  const waiting = new Map<number, (answer: CdpMessage) => void>();
  const received: CdpMessage[] = [];
  let lastId = 0;
  socket.on('message', (data: Buffer) => {
    const message = JSON.parse(data.toString()) as CdpMessage;
    received.push(message);
    if (message.id !== undefined) waiting.get(message.id)?.(message);
  });
  await new Promise((resolve, reject) => {
    socket.once('open', resolve);
    socket.once('error', reject);
  });
  return {
    received,
    send: (command) => {
      socket.send(typeof command === 'string' ? command : JSON.stringify(command));
    },
    call: (method, params = {}, sessionId) =>
      new Promise((resolve) => {
        const id = ++lastId;
        waiting.set(id, resolve);
        socket.send(JSON.stringify({ id, method, params, ...(sessionId === undefined ? {} : { sessionId }) }));
      }),
    close: () =>
      new Promise((resolve) => {
        socket.once('close', () => {
          resolve();
        });
        socket.close();
      }),
  };
}
