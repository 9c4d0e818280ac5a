import fc from 'fast-check';
import { Agent, request } from 'undici';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Known, RandomRequest } from './random-request.ts';
import { randomRequest } from './random-request.ts';
import type { ServiceUnderTest } from './service-under-test.ts';
import { API_KEY, startService } from './service-under-test.ts';

const CONCURRENCY = 8;
/** Timeout of a response, in milliseconds: detects hangs, but allows for thousands of keys. */
const TIMEOUT_MS = 180_000;
/** Fixed seed; override it with `FUZZ_SEED`. */
const SEED = 1_022_650_515;
/** Declared 5xx statuses: not implemented, a component is down, no capacity. */
const DECLARED = new Set([501, 503, 529]);

/** Defines the test of a number of random requests. */
export function testRandomRequests(requests: number): void {
  let service: ServiceUnderTest;
  const client = new Agent({ connections: CONCURRENCY });
  beforeAll(async () => {
    service = await startService({ maxSessions: 3 });
  });
  afterAll(async () => {
    await client.destroy();
    await service.stop();
  });

  /** The status; null when the connection was given up, as HTTP itself demands of some garbage. */
  async function statusOf({ method, place, headers, body }: RandomRequest): Promise<number> {
    const answer = await request(`${service.handle.url}${place}`, {
      dispatcher: client,
      method: method as 'GET',
      headers: { authorization: `Bearer ${API_KEY}`, ...headers },
      body: body ?? null,
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    // Streams do not end by themselves.
    if (answer.headers['content-type']?.includes('event-stream') === true) answer.body.destroy();
    else await answer.body.dump();
    answer.body.on('error', () => undefined);
    return answer.statusCode;
  }

  it(`answers ${String(requests)} random requests without an internal error`, { timeout: 900_000 }, async () => {
    const seed = Number(process.env.FUZZ_SEED ?? SEED);
    process.stdout.write(`seed of the random requests: ${String(seed)} (FUZZ_SEED)\n`);
    const sessions = await Promise.all([true, false].map((headless) => service.kernel.browsers.create({ headless, timeout_seconds: 3600 }))); // oxfmt-ignore
    const known: Known = { sessions: sessions.map((session) => session.session_id), processes: [] };
    for (const id of known.sessions) {
      const running = await service.kernel.browsers.process.spawn(id, { command: 'sleep', args: ['3600'] });
      known.processes.push(running.process_id ?? '');
    }
    const made = fc.sample(randomRequest(known), { numRuns: requests, seed })[Symbol.iterator]();
    const faults: string[] = [];
    const statuses = new Map<number, number>();
    await Promise.all(
      Array.from({ length: CONCURRENCY }, async () => {
        for (const make of made) {
          const sent = make();
          const status = await statusOf(sent).catch((error: unknown) => String(error));
          if (typeof status === 'number') statuses.set(status, (statuses.get(status) ?? 0) + 1);
          if (typeof status === 'number' && (status < 500 || DECLARED.has(status))) continue;
          faults.push(`${String(status)} of ${JSON.stringify(sent).slice(0, 600)}`);
        }
      }),
    );
    process.stdout.write(`answers: ${JSON.stringify(Object.fromEntries([...statuses].sort()))}\n`);
    expect(faults).toEqual([]);
    // The operations themselves were reached, not only their validation.
    expect(statuses.get(200) ?? 0).toBeGreaterThan(requests / 20);
    for (const id of known.sessions) {
      expect((await service.kernel.browsers.retrieve(id)).deleted_at).toBeUndefined();
      const answer = await service.kernel.browsers.process.exec(id, { command: 'echo', args: ['alive'], cwd: '/' });
      expect(answer.exit_code).toBe(0);
    }
  });
}
