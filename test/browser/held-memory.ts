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
 * Memory in use on and off the heap, in bytes. Collects garbage first, because its amount depends on how busy the machine is.
 */
export function heldMemory(): number {
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
