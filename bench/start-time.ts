import { readFile } from 'node:fs/promises';
import { startProcessTree } from '../test/e2e/process-tree.ts';
import type { ProcessTree, Role } from '../test/e2e/process-tree.ts';
import { secondsOf } from './figure.ts';
import type { Figure } from './figure.ts';

const STARTS = 3;
const ROLES: readonly Role[] = ['temporal', 'store', 'sandbox', 'browser', 'api', 'worker'];
/** Unit of /proc/<pid>/stat on Linux, in milliseconds. */
const TICK_MS = 10;

/**
 * Starts of a whole Holdfast on a data folder that is there already. Beside the time there is the processor time that a role has
 * taken until all was ready: it says what the role itself costs where the machine does other things beside.
 */
export async function measureStartTime(): Promise<Figure[]> {
  const tree = await startProcessTree();
  const whole: number[] = [];
  const took: Record<string, number[]> = {};
  const cpu: Record<string, number[]> = {};
  try {
    for (let start = 0; start < STARTS; start += 1) {
      await tree.stop();
      const from = tree.output().length;
      const began = Date.now();
      await tree.start();
      whole.push(Date.now() - began);
      for (const role of ROLES) {
        const seconds = new RegExp(`${role} is ready \\(([\\d.]+) s\\)`).exec(tree.output().slice(from))?.[1];
        if (seconds !== undefined) (took[role] ??= []).push(Number(seconds) * 1000);
        (cpu[role] ??= []).push(await processorTime(tree, role));
      }
    }
  } finally {
    await tree.remove();
  }
  return [
    { name: 'Second start, from the command to "ready"', value: secondsOf(whole), aim: '8 s' },
    ...Object.entries(took).map(([role, times]) => ({
      name: `Start of ${role}, from its process to ready`,
      value: `${secondsOf(times)}; processor ${secondsOf(cpu[role] ?? [])}`,
      aim: '2 s',
    })),
  ];
}

async function processorTime(tree: ProcessTree, role: Role): Promise<number> {
  const stats = await Promise.all((await tree.pids(role)).map((pid) => readFile(`/proc/${pid}/stat`, 'utf8')));
  const ticks = stats.map((stat) => {
    // After the command's name in brackets, the 12th and 13th values are user and system time.
    const values = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return Number(values[11]) + Number(values[12]);
  });
  return ticks.reduce((sum, each) => sum + each, 0) * TICK_MS;
}
