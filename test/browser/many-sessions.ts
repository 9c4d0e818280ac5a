import type { ChildProcess } from 'node:child_process';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, mkdir, readdir, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import Kernel from '@onkernel/sdk';
import { chromium } from 'playwright-core';
import { afterEach, expect, inject, it } from 'vitest';
import type { Holdings } from './measured-service.ts';
import { API_KEY } from './memory-profiles.ts';
import { processesWith } from './running-processes.ts';
import { serviceProgram } from './service-program.ts';
import { eventually } from './service-under-test.ts';

/** Concurrent starts. */
const AT_ONCE = 3;
/** Memory of an ended session, which can be read for a while, in bytes. */
const KEPT_PER_SESSION = 16 * 1024;
/** Memory that code may keep when it first runs, in bytes. */
const KEPT_ONCE = 2 * 1024 * 1024;

/** Allowed increase of open resources, such as kept-alive connections. A leak in every twentieth session exceeds it. */
const TOLERANCE = 8;

/** Numbers of sessions. */
export interface ManySessions {
  /** Before the first measurement, so that one-time allocations do not count. */
  first: number;
  /** Before the second measurement. */
  more: number;
}

/** Defines the test that sessions leave nothing behind. */
export function testManySessions({ first, more }: ManySessions): void {
  let folder = '';
  let child: ChildProcess | undefined;

  afterEach(async () => {
    if (child?.exitCode === null) {
      const exited = once(child, 'exit');
      child.kill('SIGKILL');
      await exited;
    }
    await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
  });

  it(`${String(more)} consecutive sessions leave nothing behind`, { timeout: 600_000 }, async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), 'holdfast-many-'));
    const [workDir, temporary] = [path.join(folder, 'work'), path.join(folder, 'tmp')];
    await mkdir(temporary);
    child = fork(serviceProgram('measured-service'), [workDir, inject('chromiumPath')], {
      execArgv: [],
      // Also detects what Chromium writes outside its own folder.
      env: { ...process.env, TMPDIR: temporary },
    });
    const { url } = await messageOf<{ url: string }>(child);
    const kernel = new Kernel({ apiKey: API_KEY, baseURL: url, maxRetries: 0 });

    await useAndEnd(kernel, first);
    const before = await settled(child, workDir);
    await useAndEnd(kernel, more);
    const after = await settled(child, workDir);

    expect(after.descriptors).toBeLessThan(before.descriptors + TOLERANCE);
    const grown = Object.entries(after.resources).filter(
      ([kind, number]) => number >= (before.resources[kind] ?? 0) + TOLERANCE,
    );
    expect(grown).toEqual([]);
    expect(after.heap - before.heap).toBeLessThan(Math.max(KEPT_ONCE, more * KEPT_PER_SESSION));

    const ended = once(child, 'exit');
    child.send('close');
    await ended;
    expect(await processesWith(workDir)).toEqual([]);
    expect(await readdir(path.join(workDir, 'sessions'))).toEqual([]);
    expect(await readdir(temporary)).toEqual([]);
  });
}

/** Creates, uses and deletes sessions with various combinations of telemetry, CDP clients and input. */
async function useAndEnd(kernel: Kernel, count: number): Promise<void> {
  let next = 0;
  const one = async (): Promise<void> => {
    while (next < count) {
      const number = (next += 1);
      const { session_id: id, cdp_ws_url: cdp } = await kernel.browsers.create({
        ...(number % 5 === 0 ? {} : { start_url: 'http://example.invalid/' }),
        ...(number % 3 === 0 ? { telemetry: { enabled: true } } : {}),
      });
      if (number % 4 === 0) {
        const browser = await chromium.connectOverCDP(cdp, { noDefaults: true });
        await browser.contexts()[0]?.newPage();
        if (number % 8 === 0) await browser.close();
      }
      if (number % 5 === 0) await kernel.browsers.computer.clickMouse(id, { x: 10, y: 10 });
      await kernel.browsers.deleteByID(id);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, one));
}

/** Resources of the service once only the warm browser is left. */
async function settled(service: ChildProcess, workDir: string): Promise<Holdings> {
  const folders = (): Promise<string[]> => readdir(path.join(workDir, 'sessions'));
  await eventually(async () => {
    expect(await folders()).toEqual([expect.stringMatching(/^warm-/)]);
    service.send('processes');
    // A leaked process object keeps everything of an ended browser.
    expect(await messageOf<number>(service), 'browser process objects').toBe(1);
  }, 60_000);
  service.send('measure');
  return messageOf<Holdings>(service);
}

async function messageOf<Message>(service: ChildProcess): Promise<Message> {
  const [message] = (await once(service, 'message')) as [Message];
  return message;
}
