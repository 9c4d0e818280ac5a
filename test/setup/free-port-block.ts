import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/** Below the ephemeral port range. */
const LOWEST = 20_000;
const HIGHEST = 32_000;

/** The first of `size` consecutive free loopback ports. */
export async function freePortBlock(size: number): Promise<number> {
  for (;;) {
    const first = randomInt(LOWEST, HIGHEST - size);
    const free = await Promise.all(Array.from({ length: size }, (_each, offset) => isFree(first + offset)));
    if (free.every(Boolean)) return first;
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => {
      resolve(false);
    });
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => {
      server.close(() => {
        resolve(true);
      });
    });
  });
}

/** A free loopback port. */
export function freePort(): Promise<number> {
  return freePortBlock(1);
}
