import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, it } from 'vitest';
import { socketDirOf } from '../../start/postgres/socket.ts';
import { createStore } from '../../store/store.ts';
import { addConnection, documentOf, MASTER_KEY, SCOPE } from './databases.ts';

/** Runs a store server until it is killed. */
export const STORE_PROCESS = fileURLToPath(new URL('./store-process.ts', import.meta.url));

/** Tests what a killed store server leaves: `server` is killed itself in turn, or `tree`, that which started it. */
export function testKills(victims: readonly ('server' | 'tree')[]): void {
  const parent = mkdtempSync(join(tmpdir(), 'hf-kills-'));
  let child: ChildProcess | undefined;
  afterAll(() => {
    child?.kill('SIGKILL');
    rmSync(parent, { recursive: true, force: true });
  });

  async function run(folder: string): Promise<ChildProcess> {
    const started = spawn(process.execPath, ['--import', 'tsx', STORE_PROCESS, folder, parent], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    child = started;
    const said = await once(started.stdout, 'data');
    expect(String(said[0]).trim()).toBe('ready');
    return started;
  }

  it('loses no confirmed write when it or its whole process tree is killed, and its clients continue', async () => {
    const folder = join(parent, 'postgres');
    let started = await run(folder);
    const store = createStore({ connection: { socketDir: socketDirOf(folder) }, masterKey: MASTER_KEY });
    await store.migrate();
    await store.bootstrap({ plan: 'enterprise' });
    const id = await addConnection(store);
    let confirmed = 1;
    const stop = new AbortController();
    const writing = (async () => {
      for (let revision = 2; !stop.signal.aborted;) {
        const change = { id, revision, document: documentOf(id, revision), createdAt: new Date() };
        const written = await store.connections.record(change).catch((error: unknown) => error);
        // A write whose answer was lost may or may not be there: the same revision again is harmless.
        if (typeof written !== 'boolean') {
          expect(written).toMatchObject({ code: 'unavailable' });
          continue;
        }
        confirmed = revision;
        revision += 1;
      }
    })();
    for (const victim of victims) {
      const from = confirmed;
      await expect.poll(() => confirmed).toBeGreaterThan(from + 20);
      const postmaster = Number.parseInt(readFileSync(join(folder, 'postmaster.pid'), 'utf8'), 10);
      if (victim === 'server') process.kill(postmaster, 'SIGKILL');
      started.kill('SIGKILL');
      const before = confirmed;
      started = await run(folder);
      await expect.poll(() => confirmed).toBeGreaterThan(before + 3);
    }
    stop.abort();
    await writing;
    expect((await store.connections.byId(SCOPE, id))?.revision).toBe(confirmed);
    const revisions = (await store.connections.statesSince(id, 0)).map((state) => state.revision);
    expect(new Set(revisions).size).toBe(revisions.length);
    expect(revisions.at(-1)).toBe(confirmed);
    await store.close();
  });
}
