import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/** Collects garbage twice: the first collection frees buffers on another thread, the second waits for that. */
export function collectGarbage(): void {
  collect();
  collect();
}

/**
 * What this process holds on to, on the heap and outside of it, in bytes. Garbage does not count: how much of it waits
 * for its collection is a matter of how busy the machine is.
 */
export function heldMemory(): number {
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
