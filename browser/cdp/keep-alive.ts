import type { WebSocket } from 'ws';

/** How often a silent client is asked whether it is still there, in milliseconds; two silences end it. */
const PING_INTERVAL_MS = 30_000;

/** Ends a client that has gone without a word: a cut line leaves its socket open otherwise. Stops when it closes. */
export function keepAlive(client: WebSocket): void {
  let alive = true;
  client.on('pong', () => (alive = true));
  const ping = setInterval(() => {
    if (!alive) {
      client.terminate();
      return;
    }
    alive = false;
    client.ping();
  }, PING_INTERVAL_MS);
  ping.unref();
  client.once('close', () => {
    clearInterval(ping);
  });
}
