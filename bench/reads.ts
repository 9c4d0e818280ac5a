import { fork } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { join } from 'node:path';
import { Pool } from 'undici';
import { storeConnection } from '../start/backends.ts';
import type { ProcessTree } from '../test/e2e/process-tree.ts';
import type { Figure } from './figure.ts';
import { fillStore } from './many-connections.ts';

const CONNECTIONS = 100_000;
const AT_ONCE = 16;
const WARM_UP_MS = 2_000;
const MEASURE_MS = 8_000;
/** As deep as a person pages by hand. */
const DEEPEST_OFFSET = 1_000;

/** Reads and lists per second through the API, with a full store. */
export async function measureReads(tree: ProcessTree): Promise<Figure[]> {
  const child = fork(join(import.meta.dirname, 'api-process.ts'), {
    execArgv: ['--import', 'tsx'],
    env: {
      ...process.env,
      HOLDFAST_DATA_DIR: tree.dataDir,
      HOLDFAST_API_KEY: tree.apiKey,
      TEMPORAL_ADDRESS: tree.temporalAddress,
    },
  });
  const url = await new Promise<string>((resolve, reject) => {
    child.once('message', (message) => resolve(typeof message === 'string' ? message : ''));
    child.once('exit', (code) => reject(new Error(`the API process exited with ${String(code)}`)));
  });
  try {
    const ids = await fillStore(storeConnection({ dataDir: tree.dataDir, databaseUrl: undefined }), CONNECTIONS);
    const any = (): string => ids[randomInt(ids.length)] ?? '';
    const kinds: [name: string, path: () => string][] = [
      ['Reads of one connection', () => `/auth/connections/${any()}`],
      ['Lists of 20, by offset', () => `/auth/connections?limit=20&offset=${randomInt(DEEPEST_OFFSET)}`],
      ['Lists by profile name', () => `/auth/connections?profile_name=profile-${randomInt(CONNECTIONS)}`],
      ['Lists by part of a name (`query`)', () => `/auth/connections?query=file-${randomInt(CONNECTIONS)}`],
    ];
    const figures: Figure[] = [];
    for (const [name, path] of kinds) {
      const { perSecond, p95 } = await load(url, tree.apiKey, path);
      figures.push({
        name: `${name} a second, ${CONNECTIONS.toLocaleString('en')} stored`,
        value: `${Math.round(perSecond)} (95 % within ${p95.toFixed(0)} ms, ${AT_ONCE} at once)`,
      });
    }
    return figures;
  } finally {
    child.disconnect();
  }
}

async function load(url: string, apiKey: string, path: () => string): Promise<{ perSecond: number; p95: number }> {
  const pool = new Pool(url, { connections: AT_ONCE });
  const times: number[] = [];
  const began = performance.now();
  const one = async (): Promise<void> => {
    while (performance.now() - began < WARM_UP_MS + MEASURE_MS) {
      const sent = performance.now();
      const answer = await pool.request({
        method: 'GET',
        path: path(),
        headers: { authorization: `Bearer ${apiKey}` },
      });
      await answer.body.dump();
      if (answer.statusCode !== 200) throw new Error(`HTTP ${answer.statusCode}`);
      if (sent - began > WARM_UP_MS) times.push(performance.now() - sent);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, one));
  await pool.close();
  times.sort((a, b) => a - b);
  return { perSecond: (times.length * 1000) / MEASURE_MS, p95: times[Math.floor(times.length * 0.95)] ?? Number.NaN };
}
