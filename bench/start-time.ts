import { startProcessTree, type ProcessTree, type Role } from '../test/e2e/process-tree.ts';
import { secondsOf, type Figure } from './figure.ts';
import { processorTime } from './processes.ts';

const STARTS = 3;
const ROLES: readonly Role[] = ['temporal', 'store', 'sandbox', 'browser', 'api', 'worker'];

/**
 * Restarts Holdfast on an existing data folder. The processor time that each role has used by the time all are ready shows
 * its own cost on a busy machine.
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
        (cpu[role] ??= []).push(await processorTimeOf(tree, role));
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

async function processorTimeOf(tree: ProcessTree, role: Role): Promise<number> {
  const times = await Promise.all((await tree.pids(role)).map(processorTime));
  return times.reduce((sum, each) => sum + each, 0);
}
