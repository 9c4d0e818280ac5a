import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type Kernel from '@onkernel/sdk';
import { startBrowserUnderMeasure } from './browser-under-measure.ts';
import type { Figure } from './figure.ts';

/** How often one is taken and given back. */
const RUNS = 100;
/** Browsers of the pool, and how many of them are ready when one is taken. */
const SIZE = 2;
const AIM = '50 ms where a browser is ready';

/**
 * Taking a browser from a pool in which one is ready, through the public client, beside the least request to the same service: on a
 * loaded machine that says what the service itself takes, as does its processor time.
 */
export async function measurePoolAcquire(chromium: string): Promise<Figure[]> {
  const service = await startBrowserUnderMeasure(chromium, 0);
  try {
    const { kernel } = service;
    const { id } = await kernel.browserPools.create({ size: SIZE, headless: true, fill_rate_per_minute: 100 });
    await takeTurn(kernel, id);
    const reads: number[] = [];
    const acquire: number[] = [];
    const processor: number[] = [];
    for (let run = 0; run < RUNS; run += 1) {
      await untilReady(kernel, id);
      reads.push(await timed(() => kernel.browserPools.retrieve(id)));
      const before = await processorTime(service.pid);
      const turn = await takeTurn(kernel, id);
      processor.push((await processorTime(service.pid)) - before);
      acquire.push(turn);
    }
    const ratio = acquire.map((taken, run) => taken / (reads[run] ?? Number.NaN));
    return [
      { name: 'Acquire of a pool with a browser ready', value: spread(acquire, 'ms', 1), aim: AIM },
      { name: 'A read of the pool, from the same service', value: spread(reads, 'ms', 1) },
      { name: 'Acquire by the read before it', value: spread(ratio, '×', 1) },
      { name: 'Processor time of the service for acquire and release', value: spread(processor, 'ms', 0) },
    ];
  } finally {
    await service.stop();
  }
}

/** Takes a browser and gives it back; how long the first took, in milliseconds. */
async function takeTurn(kernel: Kernel, pool: string): Promise<number> {
  let session = '';
  const taken = await timed(async () => {
    ({ session_id: session } = await kernel.browserPools.acquire(pool, {}));
  });
  await kernel.browserPools.release(pool, { session_id: session });
  return taken;
}

async function untilReady(kernel: Kernel, pool: string): Promise<void> {
  while ((await kernel.browserPools.retrieve(pool)).available_count < SIZE) await sleep(20);
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

/** Processor time of a process so far, in milliseconds. A tick of the kernel is ten. */
async function processorTime(pid: number): Promise<number> {
  const [, , ...fields] = (await readFile(`/proc/${String(pid)}/stat`, 'utf8')).replace(/\(.*\)/, 'name').split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

/** Middle, nineteen of twenty, ninety-nine of a hundred, and the largest. */
function spread(values: readonly number[], unit: string, digits: number): string {
  const sorted = values.toSorted((left, right) => left - right);
  const at = (share: number): string => (sorted[Math.ceil(sorted.length * share) - 1] ?? Number.NaN).toFixed(digits);
  return `median ${at(0.5)}, p95 ${at(0.95)}, p99 ${at(0.99)}, most ${at(1)} ${unit} (n=${String(values.length)})`;
}
