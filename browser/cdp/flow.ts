import type { WebSocket } from 'ws';

/** When this much waits for a slow reader, what fills it is not read until half of it has gone, in bytes. */
const HIGH_WATER_BYTES = 8 * 1024 * 1024;

/** Carries messages between a client and its browser at the pace of the slower one: neither piles up here. */
export interface Flow {
  toBrowser(message: string): void;
  /** What the browser says. */
  toClient(message: Buffer): void;
  /** What the service says itself to a command: a client that does not read its answers is not read either. */
  answer(message: string): void;
}

export function createFlow(client: WebSocket, browser: WebSocket): Flow {
  const lowWater = (socket: WebSocket): boolean => socket.bufferedAmount < HIGH_WATER_BYTES / 2;
  const resume = (): void => {
    if (browser.isPaused && lowWater(client)) browser.resume();
    // Its commands fill the one, the answers to those that the browser never sees the other.
    if (client.isPaused && lowWater(client) && lowWater(browser)) client.resume();
  };
  const send = (message: string | Buffer, target: WebSocket, source: WebSocket): void => {
    target.send(message, { binary: false }, resume);
    if (target.bufferedAmount > HIGH_WATER_BYTES) source.pause();
  };
  return {
    toBrowser: (message) => {
      send(message, browser, client);
    },
    toClient: (message) => {
      send(message, client, browser);
    },
    answer: (message) => {
      send(message, client, client);
    },
  };
}
