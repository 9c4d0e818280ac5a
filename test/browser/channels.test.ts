import type { Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, it } from 'vitest';
import { startProcess } from '../../browser/process/running-process.ts';

/** Runs a line of shell with one channel; `wrapped` as if a sandbox stood around it. */
async function start(line: string, wrapped: boolean) {
  let heard = Promise.resolve('');
  const said: Buffer[] = [];
  const running = await startProcess({
    command: { program: '/bin/sh', args: ['-c', line], env: { PATH: process.env.PATH ?? '' } },
    wrapped,
    connection: { kind: 'pipes', stdin: false, channels: [(end: Socket) => (heard = read(end))] },
    timeoutMs: null,
    onOutput: (_, data) => void said.push(data),
  });
  return { running, heard, said: () => Buffer.concat(said).toString() };
}

/** What is said before the end; nobody is told whether the other side or this one ended it. */
const read = (end: Socket): Promise<string> => text(end).catch(() => 'broken off');

it('keeps data from a channel if the process exits before its start is reported', async () => {
  // Nothing in it ever looks like a command inside a sandbox, so it counts as started when it has ended.
  const { running, heard } = await start('printf last >&3; exit 5', true);
  expect(running.exitCode()).toBe(5);
  expect(await heard).toBe('last');
});

it('ends with its process even if an orphan holds the channel open', async () => {
  const { running, heard, said } = await start('setsid sleep 600 & echo $!', false);
  expect(await running.ended).toBe(0);
  expect(await heard).toBe('broken off');
  process.kill(Number(said()), 'SIGKILL');
});
