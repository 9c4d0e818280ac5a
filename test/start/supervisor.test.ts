import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { ChildSpec } from '../../start/child-process.ts';
import { processIdentity } from '../../start/process-identity.ts';
import { createSupervisor } from '../../start/supervisor.ts';
import type { Supervisor } from '../../start/supervisor.ts';

/** What only a hang takes. */
const HANG_MS = 60_000;
const fixture = join(dirname(fileURLToPath(import.meta.url)), 'fixtures', 'role.mjs');

describe('supervisor', () => {
  let folder = '';
  let said: string[] = [];
  let supervisor: Supervisor | undefined;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'holdfast-supervisor-'));
    said = [];
  });
  afterEach(async () => {
    supervisor?.kill();
    await rm(folder, { recursive: true, force: true });
  });

  const role = (name: string, mode: string, more: Partial<ChildSpec> = {}): ChildSpec => ({
    name,
    kind: 'role',
    program: process.execPath,
    args: [fixture, mode, join(folder, `${name}.note`)],
    env: process.env,
    stage: 0,
    readyWithinMs: 10_000,
    stopWithinMs: 5_000,
    ...more,
  });
  const sleeper = (name: string, stage = 0): ChildSpec => ({
    ...role(name, ''),
    kind: 'foreign',
    program: '/bin/sleep',
    args: ['300'],
    stage,
  });
  const supervise = (...specs: ChildSpec[]): Supervisor =>
    (supervisor = createSupervisor(specs, { logDir: folder, say: (line) => said.push(line), backoffMs: 20 }));

  test('starts in stages, stops everything, and leaves no process', async () => {
    const order: string[] = [];
    supervisor = createSupervisor([role('late', 'ready', { stage: 1 }), sleeper('early')], {
      logDir: folder,
      say: () => undefined,
      onReady: (name) => order.push(name),
    });
    await supervisor.start();
    const pids = supervisor.pids();
    expect(order).toEqual(['early', 'late']);
    expect(Object.keys(pids).sort()).toEqual(['early', 'late']);
    await supervisor.stop();
    for (const pid of Object.values(pids)) expect(processIdentity(pid)).toBeUndefined();
    expect(supervisor.pids()).toEqual({});
  });

  test.each(['role', 'foreign'] as const)('a killed %s is restarted, and reported in one line', async (kind) => {
    const one = supervise(kind === 'role' ? role('part', 'ready') : sleeper('part'));
    await one.start();
    const before = one.pids().part ?? 0;
    process.kill(before, 'SIGKILL');
    await vi.waitFor(() => expect(said).toHaveLength(2), HANG_MS);
    expect(said[0]).toMatch(/^part ended \(signal SIGKILL\); starting it again in 0\.02 s/);
    expect(said[1]).toBe('part is ready again');
    expect(one.pids().part).not.toBe(before);
    await one.stop();
  });

  test('pauses grow while a child keeps exiting', async () => {
    const one = supervise(role('part', 'short-lived'));
    await one.start();
    await vi.waitFor(() => expect(said.filter((line) => line.includes('ended')).length).toBeGreaterThan(3), HANG_MS);
    const pauses = said.flatMap((line) => /again in ([\d.]+) s/.exec(line)?.[1] ?? []).map(Number);
    expect(pauses.slice(0, 4)).toEqual([0.02, 0.04, 0.08, 0.16]);
    await one.stop();
  });

  test('a child that cannot start stops the others, and its last log line is reported', async () => {
    const one = supervise(sleeper('good'), role('bad', 'broken'));
    await expect(one.start()).rejects.toThrow(/^Cannot start: bad ended \(exit code 1\); .*port 9 is taken/);
    expect(one.pids()).toEqual({});
  });

  test('a child that is never ready fails the start', async () => {
    const one = supervise(role('slow', 'late', { readyWithinMs: 300 }));
    await expect(one.start()).rejects.toThrow(/slow was not ready within 0\.3 s/);
  });

  test('a child that does not stop is killed', async () => {
    const one = supervise(role('stubborn', 'stubborn', { stopWithinMs: 200 }));
    await one.start();
    await one.stop();
    expect(said).toEqual(['stubborn does not stop; killing it']);
  });

  test('processes started by a child are killed with it', async () => {
    const one = supervise(role('parent', 'grandchild'));
    await one.start();
    const grandchild = Number(await readFile(join(folder, 'parent.note'), 'utf8'));
    expect(processIdentity(grandchild)).toBeDefined();
    process.kill(one.pids().parent ?? 0, 'SIGKILL');
    await vi.waitFor(() => expect(processIdentity(grandchild)).toBeUndefined(), HANG_MS);
    await one.stop();
  });

  test('stopping during the start stops what has started', async () => {
    const one = supervise(sleeper('good'), role('slow', 'late'));
    const started = one.start();
    await vi.waitFor(() => expect(Object.keys(one.pids())).toHaveLength(2), HANG_MS);
    await one.stop();
    await started;
    expect(one.pids()).toEqual({});
  });
});
