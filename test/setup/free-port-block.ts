import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/** Below the range that the system gives out by itself. */
const LOWEST = 20_000;
const HIGHEST = 32_000;

/** The first of `size` ports of loopback in a row that are free now. */
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

/** A port of loopback that is free now. */
export function freePort(): Promise<number> {
  return freePortBlock(1);
}
