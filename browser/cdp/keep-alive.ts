import type { WebSocket } from 'ws';

/** How often a client is asked whether it is still there, in milliseconds. It keeps proxies between from cutting a quiet line. */
const PING_INTERVAL_MS = 30_000;
/**
 * How long a client may leave that unanswered, in milliseconds. Programs that read only when they wait for something, or
 * that stand in a debugger, answer late; a client that is dead is told by the system, at the latest after about as long.
 */
const MAX_SILENCE_MS = 15 * 60_000;

/** Ends a client that has gone without a word: a cut line leaves its socket open otherwise. Stops when it closes. */
export function keepAlive(client: WebSocket): void {
  let unanswered = 0;
  const heard = (): void => {
    unanswered = 0;
  };
  client.on('pong', heard);
  client.on('message', heard);
  const ping = setInterval(() => {
    if (unanswered * PING_INTERVAL_MS >= MAX_SILENCE_MS) {
      client.terminate();
      return;
    }
    unanswered += 1;
    client.ping();
  }, PING_INTERVAL_MS);
  ping.unref();
  client.once('close', () => {
    clearInterval(ping);
  });
}
