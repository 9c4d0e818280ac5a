import type { Socket } from 'node:net';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { removeLeftovers } from '../../browser/chromium/user-data.ts';
import { DEFAULT_LIMITS } from '../../browser/process/limits.ts';
import { createSessionFolder, sessionFolderOf } from '../../browser/process/session-folder.ts';
import type { SessionProcesses } from '../../browser/process/session-processes.ts';
import { createSessionProcesses, processesOf } from '../../browser/process/session-processes.ts';
import { createUnisolated } from '../../browser/process/isolation.ts';
import { ProcessExec, ProcessSpawn } from '../../contract/processes.ts';
import { eventually } from './service-under-test.ts';

let workDir: string;
let processes: SessionProcesses;
beforeEach(async () => {
  workDir = await mkdtemp(path.join(os.tmpdir(), 'holdfast-unisolated-'));
  const folder = sessionFolderOf(path.join(workDir, 'sessions/one'));
  await mkdir(path.dirname(folder.root), { recursive: true });
  await createSessionFolder(folder, null);
  const isolation = createUnisolated(DEFAULT_LIMITS);
  processes = createSessionProcesses({ isolation, folder, display: null, isFolder: () => Promise.resolve(true) });
});
afterEach(async () => {
  await processes.close();
  await rm(workDir, { recursive: true, force: true });
});

/** Starts a program that leaves another behind, in a session of its own; resolves with the pids of both. */
async function startTwo(): Promise<number[]> {
  const line = 'setsid sh -c "echo $$ > $HOME/one; exec sleep 600" & echo $$ > $HOME/two; exec sleep 600';
  await processes.spawn(ProcessSpawn.parse({ command: 'sh', args: ['-c', line.replace('"echo $$', '"echo \\$\\$')] }));
  const home = path.join(workDir, 'sessions/one/Session/root/home/user');
  return eventually(async () => {
    const texts = await Promise.all(['one', 'two'].map((name) => readFile(path.join(home, name), 'utf8')));
    expect(texts.every((text) => text.endsWith('\n'))).toBe(true);
    return texts.map(Number);
  });
}

/** Whether a process is there and not just waiting to be taken note of. */
async function runs(pid: number): Promise<boolean> {
  const state = await readFile(`/proc/${String(pid)}/stat`, 'utf8').catch(() => ') Z');
  return !/\) [ZX]/.test(state);
}

describe('unisolated processes', () => {
  it('end with their session, even if they left their group', async () => {
    const pids = await startTwo();
    expect(await Promise.all(pids.map(runs))).toEqual([true, true]);
    await processes.close();
    await eventually(async () => expect(await Promise.all(pids.map(runs))).toEqual([false, false]));
  });

  it('of a dead service are killed by the next one', async () => {
    const pids = await startTwo();
    expect((await removeLeftovers(workDir)).processes).toBeGreaterThan(1);
    await eventually(async () => expect(await Promise.all(pids.map(runs))).toEqual([false, false]));
  });

  it('of another service are not touched', async () => {
    const pids = await startTwo();
    const other = await mkdtemp(path.join(os.tmpdir(), 'holdfast-other-'));
    expect((await removeLeftovers(other)).processes).toBe(0);
    await rm(other, { recursive: true });
    expect(await Promise.all(pids.map(runs))).toEqual([true, true]);
  });

  it('do not inherit the service’s environment', async () => {
    process.env.HOLDFAST_TEST_SECRET = 'secret';
    const result = await processes.exec(ProcessExec.parse({ command: 'env' }), new AbortController().signal);
    delete process.env.HOLDFAST_TEST_SECRET;
    let encoded = '';
    for await (const piece of result.stdout.base64()) encoded += piece;
    await result.dispose();
    const lines = Buffer.from(encoded, 'base64').toString();
    expect(lines).toMatch(/^HOME=.*\/home\/user$/m);
    expect(lines).not.toContain('secret');
  });

  it('of the service itself have channels to it, and find mounted files', async () => {
    const file = path.join(workDir, 'program.mjs');
    await writeFile(
      file,
      `import { Socket } from 'node:net';
       const [first, second] = [3, 4].map((fd) => new Socket({ fd }));
       first.on('data', (data) => { second.end('heard ' + data); first.destroy(); });`,
    );
    const shown = { name: 'program.mjs', source: file };
    const request = ProcessExec.parse({ command: process.execPath, args: [processes.sandboxPath(shown)] });
    let heard = Promise.resolve('');
    const channels = [(end: Socket) => void end.write('a word'), (end: Socket) => (heard = text(end))];
    const running = await processes.start(request, { kind: 'pipes', stdin: false, channels }, () => undefined, [shown]);
    expect(await running.ended).toBe(0);
    expect(await heard).toBe('heard a word');
  });
});

it('rejects processes where they are disabled, and tells operators what to do', () => {
  expect(() => processesOf({ workspace: { processes: null } })).toThrow(/BROWSER_ALLOW_UNSANDBOXED_PROCESSES/);
});
