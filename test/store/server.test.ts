import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { chooseSocketDir, startStoreServer, type StoreServer } from '../../store/server.ts';
import { createStore } from '../../store/store.ts';
import { addConnection, copyEmptyDatabase, documentOf, MASTER_KEY, SCOPE } from './databases.ts';

const folders: string[] = [];
const children: ChildProcess[] = [];
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
});
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

function newFolder(): { dataDir: string; socketDir: string } {
  const folder = mkdtempSync(join(tmpdir(), 'hf-server-'));
  folders.push(folder);
  return { dataDir: join(folder, 'data'), socketDir: join(folder, 'sock') };
}

/** Starts a TypeScript file as a process and waits for its first line (null: it ended without one). */
async function run(file: string, ...args: string[]): Promise<{ child: ChildProcess; said: Promise<string> }> {
  const path = fileURLToPath(new URL(file, import.meta.url));
  const child = spawn(process.execPath, ['--import', 'tsx', path, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  children.push(child);
  const said = once(child.stdout, 'data').then(([data]) => String(data).trim());
  return Promise.resolve({ child, said });
}

/** The number in the first column of the first row. */
async function numberOf(client: pg.Client, query: string): Promise<number> {
  const { rows } = await client.query<[number]>({ text: query, rowMode: 'array' });
  return Number(rows[0]?.[0]);
}

const clientOf = (socketDir: string): pg.Client =>
  new pg.Client({ host: socketDir, port: 5432, user: 'postgres', database: 'postgres' });

describe('the store server, with clients in several processes', () => {
  const folder = newFolder();
  let server: StoreServer;
  let client: pg.Client;
  beforeAll(async () => {
    await copyEmptyDatabase(folder.dataDir);
    server = await startStoreServer({ ...folder, idleInTransactionMs: 4000 });
    client = clientOf(folder.socketDir);
    await client.connect();
    await client.query('create table accounts (id int primary key, balance int not null)');
    await client.query('insert into accounts select i, 0 from generate_series(0, 9) i');
    await client.query('create table moves (who text, amount int)');
  });
  afterAll(async () => {
    await client.end();
    await server.close();
  });

  it('keeps transactions and prepared statements of nine connections apart', async () => {
    const runs = await Promise.all([1, 2, 3].map(() => run('./client-process.ts', folder.socketDir, 'transfers')));
    const counts = await Promise.all(runs.map(({ said }) => said));
    const moves = await numberOf(client, 'select count(*)::int from moves');
    expect(counts.reduce((sum, count) => sum + Number(count), 0)).toBe(moves);
    expect(moves).toBe(9 * 32);
    expect(await numberOf(client, 'select sum(balance)::int from accounts')).toBe(0);
    for (const { child } of runs) if (child.exitCode === null) await once(child, 'exit');
    await expect.poll(async () => await numberOf(client, 'select count(*)::int from pg_prepared_statements')).toBe(0);
  }, 120_000);

  it('rolls back a client that is killed in mid-transaction, and serves the others at once', async () => {
    const { child, said } = await run('./client-process.ts', folder.socketDir, 'hang');
    expect(await said).toBe('hanging');
    const waiting = client.query('select balance from accounts where id = 0');
    child.kill('SIGKILL');
    const killed = Date.now();
    await waiting;
    expect(Date.now() - killed).toBeLessThan(2000);
    expect(await numberOf(client, 'select sum(balance)::int from accounts')).toBe(0);
  });

  it('ends a transaction whose client says no more', async () => {
    const { said } = await run('./client-process.ts', folder.socketDir, 'hang');
    expect(await said).toBe('hanging');
    const from = Date.now();
    expect(await numberOf(client, 'select sum(balance)::int from accounts')).toBe(0);
    expect(Date.now() - from).toBeGreaterThan(1500);
    expect(Date.now() - from).toBeLessThan(15_000);
  });

  it('survives clients that speak nonsense or hang up half way', async () => {
    const { connect } = await import('node:net');
    for (const bytes of [Buffer.from('GET / HTTP/1.1\r\n\r\n'), Buffer.from([0, 0, 0, 8, 4, 210, 22, 47])]) {
      const socket = connect(join(folder.socketDir, '.s.PGSQL.5432'));
      await once(socket, 'connect');
      socket.write(bytes);
      await sleep(20);
      socket.destroy();
    }
    const half = clientOf(folder.socketDir);
    half.on('error', () => undefined);
    await half.connect();
    void half.query('begin').catch(() => undefined);
    void half.query('select pg_sleep(0.2)').catch(() => undefined);
    await sleep(50);
    half.connection.stream.destroy();
    expect(await numberOf(client, 'select 1')).toBe(1);
  });

  it('is closed to other users, and refuses a second server on its folder or its socket', async () => {
    for (const dir of [folder.dataDir, folder.socketDir]) expect(statSync(dir).mode & 0o777).toBe(0o700);
    await expect(startStoreServer({ ...newFolder(), dataDir: folder.dataDir })).rejects.toThrow(/in use by process/);
    await expect(startStoreServer({ ...newFolder(), socketDir: folder.socketDir })).rejects.toThrow(/Another store/);
    expect(await numberOf(client, 'select 1')).toBe(1);
  });

  it('finds a short folder for its socket when the wanted path is too long', () => {
    expect(chooseSocketDir('/short')).toBe('/short');
    const long = `/${'x'.repeat(120)}`;
    expect(chooseSocketDir(long).length).toBeLessThan(80);
    expect(chooseSocketDir(long)).toBe(chooseSocketDir(long));
    expect(chooseSocketDir(long)).not.toBe(chooseSocketDir(`${long}y`));
  });
});

describe('the store server under kill -9', () => {
  it('loses no write that it confirmed, in five kills; its clients go on by themselves', async () => {
    const folder = newFolder();
    await copyEmptyDatabase(folder.dataDir);
    const start = async (): Promise<ChildProcess> => {
      const { child, said } = await run('./store-process.ts', folder.dataDir, folder.socketDir);
      expect(await said).toBe('ready');
      return child;
    };
    let child = await start();
    const store = createStore({ connection: { socketDir: folder.socketDir }, masterKey: MASTER_KEY });
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
    for (let kill = 0; kill < 5; kill += 1) {
      await sleep(300 + kill * 57);
      child.kill('SIGKILL');
      await once(child, 'exit');
      const before = confirmed;
      child = await start();
      await expect.poll(() => confirmed, { timeout: 30_000 }).toBeGreaterThan(before + 3);
    }
    stop.abort();
    await writing;
    expect((await store.connections.byId(SCOPE, id))?.revision).toBe(confirmed);
    const revisions = (await store.connections.statesSince(id, 0)).map((state) => state.revision);
    expect(new Set(revisions).size).toBe(revisions.length);
    expect(revisions.at(-1)).toBe(confirmed);
    await store.close();
  }, 120_000);

  it('starts again after a kill in the middle of making the database', async () => {
    const folder = newFolder();
    for (const delay of [400, 900, 1500]) {
      const { child } = await run('./store-process.ts', folder.dataDir, folder.socketDir);
      await sleep(delay);
      child.kill('SIGKILL');
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    }
    const server = await startStoreServer(folder);
    const store = createStore({ connection: { socketDir: folder.socketDir }, masterKey: MASTER_KEY });
    await store.migrate();
    await store.ping();
    await store.close();
    await server.close();
  }, 120_000);
});
