import { expect, it, vi } from 'vitest';
import { HoldfastError } from '../../contract/errors.ts';
import { createBrowserPool, type PoolBrowsers } from '../../browser/pools/pool.ts';
import { createSessionRegistry, type SessionRegistry } from '../../browser/session/registry.ts';
import type { SessionRecord } from '../../browser/session/session.ts';
import { createSessionTelemetry } from '../../browser/telemetry/session-telemetry.ts';

const POOL = { id: 'pool_1' };
let made = 0;

/** A record of a session that is being started. */
function record(more: Pick<Partial<SessionRecord>, 'pool' | 'managedAuth'> = {}): SessionRecord {
  made += 1;
  return {
    ...{ id: `brw_${String(made)}`, projectId: 'prj_default', createdAt: new Date() },
    ...{ endedAt: null, endedBy: null, crash: null, headless: true, stealth: false, kioskMode: false },
    memory: '1GiB',
    ...{ timeoutSeconds: 60, name: undefined, tags: undefined, startUrl: undefined, chromePolicy: undefined },
    ...{ viewport: { width: 800, height: 600 }, profile: null, proxy: null, invocationId: undefined },
    telemetry: createSessionTelemetry({ selection: null, excluded: new Set(), private: false }),
    ...{ pool: null, idle: false, managedAuth: false },
    ...more,
  };
}

const fill = (registry: SessionRegistry, count: number): (() => void)[] =>
  Array.from({ length: count }, () => registry.reserve(record()));

it('reserves sessions for logins, and starts no more browsers than needed', () => {
  const registry = createSessionRegistry(8);
  expect(registry.maxPooled).toBe(6);
  const [first] = fill(registry, 6);
  const ofPool = () => registry.reserve(record({ pool: POOL }));
  expect(ofPool).toThrow('The pool cannot be filled: of 8 browser sessions, 2 are reserved for logins');
  registry.reserve(record({ managedAuth: true }));
  expect(ofPool).toThrow('1 are reserved');
  first?.();
  ofPool();
  // Whoever asks for a session by itself may have the last place.
  registry.reserve(record());
  expect(() => registry.reserve(record({ managedAuth: true }))).toThrow('All 8 browser sessions are in use');
});

it('tells a waiting caller why the pool could not be filled', async () => {
  const start = vi.fn<PoolBrowsers['start']>();
  start.mockRejectedValue(new HoldfastError('capacity_exhausted', 'The pool cannot be filled'));
  const never = () => Promise.reject(new Error('There is no session'));
  const browsers: PoolBrowsers = {
    ...{ start, renew: never, isAlive: never, isFresh: never, lease: never, end: never },
  };
  const stored = { id: 'pool_1', projectId: 'prj_default', name: null, createdAt: new Date() };
  const config = { size: 1, fill_rate_per_minute: 0 };
  const pool = createBrowserPool({ ...stored, config, profileId: null, extensionIds: [] }, browsers);
  const gone = new AbortController();
  const waits = pool.acquire({ acquire_timeout_seconds: 0.2 }, gone.signal);
  await expect(waits).rejects.toThrow('The pool cannot be filled');
  expect(start).toHaveBeenCalled();
  gone.abort();
  expect(await pool.acquire({}, gone.signal)).toBeNull();
  await pool.stop();
});
