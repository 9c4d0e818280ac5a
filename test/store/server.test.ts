import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { dirname, join } from 'node:path';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { startChild, type RunningChild } from '../../start/child-process.ts';
import { findPostgres } from '../../start/postgres/binaries.ts';
import { clusterMajor, openCluster } from '../../start/postgres/cluster.ts';
import { localStore, postgresServer } from '../../start/postgres/server.ts';
import { socketDirOf } from '../../start/postgres/socket.ts';
import { clientConfig } from '../../store/database.ts';
import { STORE_PROCESS, testKills } from './server-kills.ts';

const parents: string[] = [];
const processes: ChildProcess[] = [];
afterEach(() => {
  for (const child of processes.splice(0)) child.kill('SIGKILL');
});
afterAll(() => {
  for (const folder of parents) rmSync(folder, { recursive: true, force: true });
});

function newParent(): string {
  const parent = mkdtempSync(join(tmpdir(), 'hf-server-'));
  parents.push(parent);
  return parent;
}

async function startServer(folder: string, logDir: string): Promise<RunningChild> {
  const server = await startChild(await postgresServer(folder), logDir);
  await server.ready;
  return server;
}

async function query(folder: string, text: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client(clientConfig({ socketDir: socketDirOf(folder) }));
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(text)).rows;
  } finally {
    await client.end();
  }
}

describe('the store server', () => {
  const parent = newParent();
  // Far beyond what the path of a socket may have.
  const folder = join(parent, 'a'.repeat(100), 'postgres');
  let server: RunningChild;
  beforeAll(async () => {
    server = await startServer(folder, parent);
  });
  afterAll(() => server.stop(() => undefined));

  it('is durable, and supports substring searches', async () => {
    for (const setting of ['fsync', 'synchronous_commit', 'full_page_writes'])
      expect(await query(folder, `show ${setting}`)).toEqual([{ [setting]: 'on' }]);
    await query(folder, 'create extension pg_trgm');
    expect(await query(folder, "select lower('ÄÉ') as text")).toEqual([{ text: 'äé' }]);
  });

  it('listens only on its socket, and accepts only the user who started it', async () => {
    expect(await query(folder, 'show listen_addresses')).toEqual([{ listen_addresses: '' }]);
    const rules = await query(folder, 'select type, user_name, auth_method, options from pg_hba_file_rules');
    expect(rules).toEqual([{ type: 'local', user_name: ['postgres'], auth_method: 'peer', options: ['map=holdfast'] }]);
    const users = await query(folder, 'select sys_name, pg_username from pg_ident_file_mappings');
    expect(users).toEqual([{ sys_name: userInfo().username, pg_username: 'postgres' }]);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
  });

  it('logs no statements and no values', async () => {
    await query(folder, 'create table notes (note text primary key)');
    await query(folder, "insert into notes values ('a planted secret')");
    await expect(query(folder, "insert into notes values ('a planted secret')")).rejects.toThrow(/duplicate key/);
    await expect.poll(() => readFileSync(join(parent, 'store.log'), 'utf8')).toContain('duplicate key');
    expect(readFileSync(join(parent, 'store.log'), 'utf8')).not.toContain('planted');
  });

  it('stops immediately despite connected clients, and keeps its data', async () => {
    const client = new pg.Client(clientConfig({ socketDir: socketDirOf(folder) }));
    client.on('error', () => undefined);
    await client.connect();
    await client.query('create table kept (n int)');
    await server.stop(() => {
      throw new Error('It had to be killed');
    });
    expect(existsSync(join(folder, 'postmaster.pid'))).toBe(false);
    server = await startServer(folder, parent);
    expect(await query(folder, 'select count(*)::int as n from kept')).toEqual([{ n: 0 }]);
  });
});

describe('the store server under kill -9', () => {
  testKills(['server', 'tree']);

  it('starts after a kill during the creation of the database, and despite a reused process id', async () => {
    const parent = newParent();
    const folder = join(parent, 'postgres');
    const making = spawn(process.execPath, ['--import', 'tsx', STORE_PROCESS, folder, parent], { stdio: 'ignore' });
    processes.push(making);
    await expect.poll(() => existsSync(`${folder}.new/base`)).toBe(true);
    making.kill('SIGKILL');
    await once(making, 'exit');
    const server = await startServer(folder, parent);
    await server.stop(() => undefined);
    // As after a restart of the machine: the id in the lock file belongs to somebody else now.
    writeFileSync(join(folder, 'postmaster.pid'), `${process.pid}\n${folder}\n1\n5432\n.\n\n\n`);
    const again = await startServer(folder, parent);
    expect(await query(folder, 'select 1 as n')).toEqual([{ n: 1 }]);
    await again.stop(() => undefined);
  });
});

it('is created by programs that return to their working directory by name, like Postgres before 16', async () => {
  const programs = newParent();
  chmodSync(programs, 0o755);
  const initdb = '#!/bin/sh\nbegan=$(pwd -P) && cd / && cd "$began" && echo 15 > "$2/PG_VERSION"\n';
  writeFileSync(join(programs, 'initdb'), initdb, { mode: 0o755 });
  // Nobody else may walk in.
  const folder = join(newParent(), 'postgres');
  await openCluster(folder, { folder: programs, major: 15 });
  expect(await clusterMajor(folder)).toBe(15);
});

it('runs programs that do not depend on their installation folder', async () => {
  const { folder } = await findPostgres();
  const entries = readdirSync(dirname(folder), { recursive: true, withFileTypes: true });
  const links = entries.filter((entry) => entry.isSymbolicLink());
  const targets = links.map((link) => readlinkSync(join(link.parentPath, link.name)));
  expect(targets.filter((target) => target.includes('node_modules'))).toEqual([]);
});

describe('a store that cannot be opened', () => {
  it('names the required Postgres version if there is none', async () => {
    await expect(findPostgres(9)).rejects.toThrow(/^No Postgres 9 for .*Install one .*, or set DATABASE_URL/);
    const folder = newParent();
    writeFileSync(join(folder, 'PG_VERSION'), '9\n');
    await expect(postgresServer(folder)).rejects.toThrow(/^No Postgres 9/);
  });

  it('explains what to do with the store of version 0.1, and leaves it unchanged', async () => {
    const dataDir = newParent();
    mkdirSync(join(dataDir, 'store', 'pg'), { recursive: true });
    await expect(localStore(dataDir)).rejects.toThrow(/store of Holdfast 0\.1/);
    expect(existsSync(join(dataDir, 'postgres'))).toBe(false);
  });
});
