import { setTimeout as sleep } from 'node:timers/promises';
import type Kernel from '@onkernel/sdk';
import { startMeasuredBrowser } from './measured-browser.ts';
import { processorTime } from './processes.ts';
import { timed, type Figure } from './figure.ts';

/** How often a browser is acquired and released. */
const RUNS = 100;
/** Size of the pool; all its browsers are ready before each acquire. */
const SIZE = 2;
const AIM = '50 ms where a browser is ready';

/**
 * Acquires browsers from a pool that has one ready, through the public client. The cheapest request to the same service and
 * its processor time are measured too, which show the service's own share on a loaded machine.
 */
export async function measurePoolAcquire(chromium: string): Promise<Figure[]> {
  const service = await startMeasuredBrowser(chromium, 0);
  try {
    const { kernel } = service;
    const { id } = await kernel.browserPools.create({ size: SIZE, headless: true, fill_rate_per_minute: 100 });
    await acquireAndRelease(kernel, id);
    const reads: number[] = [];
    const acquire: number[] = [];
    const processor: number[] = [];
    for (let run = 0; run < RUNS; run += 1) {
      await waitUntilFilled(kernel, id);
      reads.push(await timed(() => kernel.browserPools.retrieve(id)));
      const before = await processorTime(service.pid);
      const turn = await acquireAndRelease(kernel, id);
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

/** Milliseconds that acquiring took. */
async function acquireAndRelease(kernel: Kernel, pool: string): Promise<number> {
  let session = '';
  const taken = await timed(async () => {
    ({ session_id: session } = await kernel.browserPools.acquire(pool, {}));
  });
  await kernel.browserPools.release(pool, { session_id: session });
  return taken;
}

async function waitUntilFilled(kernel: Kernel, pool: string): Promise<void> {
  while ((await kernel.browserPools.retrieve(pool)).available_count < SIZE) await sleep(20);
}

function spread(values: readonly number[], unit: string, digits: number): string {
  const sorted = values.toSorted((left, right) => left - right);
  const at = (share: number): string => (sorted[Math.ceil(sorted.length * share) - 1] ?? Number.NaN).toFixed(digits);
  return `median ${at(0.5)}, p95 ${at(0.95)}, p99 ${at(0.99)}, most ${at(1)} ${unit} (n=${String(values.length)})`;
}
