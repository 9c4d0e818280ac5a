import { run } from '../start/setup/command.ts';
import type { ProcessTree } from '../test/e2e/process-tree.ts';
import type { Figure } from './figure.ts';
import { clientOf, connect } from './logins.ts';

const CONNECTIONS = 1_000;
const AT_ONCE = 8;
/** Time for garbage to be collected. */
const SETTLE_MS = 10_000;

/** Resident memory of the worker before and after it caches 1,000 connections, its default cache size. */
export async function measureWorkerMemory(tree: ProcessTree): Promise<Figure[]> {
  const kernel = clientOf(tree);
  const before = await residentMegabytes(tree);
  let next = 0;
  const began = performance.now();
  const create = async (): Promise<void> => {
    while (next < CONNECTIONS) {
      next += 1;
      await connect(kernel, tree, `bench-memory-${next}`);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, create));
  const perSecond = CONNECTIONS / ((performance.now() - began) / 1000);
  await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
  const after = await residentMegabytes(tree);
  const each = ((after - before) * 1024) / CONNECTIONS;
  return [
    {
      name: 'Resident memory of the worker, 1,000 connections cached',
      value: `${after} MB (${before} MB before; ${each.toFixed(0)} kB each)`,
    },
    { name: 'Connections created a second, 8 at once', value: perSecond.toFixed(1) },
  ];
}

async function residentMegabytes(tree: ProcessTree): Promise<number> {
  const [pid] = await tree.pids('worker');
  const result = await run('ps', ['-o', 'rss=', '-p', String(pid)]);
  return Math.round(Number(result.output) / 1024);
}
