import os from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import type { FastifyInstance } from 'fastify';
import { describe, expect, it } from 'vitest';
import { createBrowserService } from '../../browser/app.ts';
import { createSessionTokens } from '../../browser/cdp/token.ts';
import { createReplayStore } from '../../browser/replay/replay-store.ts';
import { createSessionRegistry } from '../../browser/session/registry.ts';
import { createBrowserPools } from '../../browser/pools/pools.ts';
import { BROWSER_POOL_ROUTES } from '../../contract/browser-pool-routes.ts';
import { BROWSER_ROUTES } from '../../contract/browser-routes.ts';
import { HoldfastError } from '../../contract/errors.ts';
import { PUBLIC_ONLY } from '../../egress/policy.ts';
import { memoryPools } from './memory-pools.ts';

const KEY = 'key-of-a-service-without-browsers';
const refused = (): Promise<never> =>
  Promise.reject(new HoldfastError('capacity_exhausted', 'none here', { retryAfterSeconds: 7 }));
const quiet = (): void => undefined;

/** The application with no browser behind it: every start is refused. */
function app(create: () => Promise<never> = refused): FastifyInstance {
  return createBrowserService({
    apiKey: KEY,
    registry: createSessionRegistry(1),
    lifecycle: {
      create,
      renew: refused,
      end: refused,
      endAll: () => Promise.resolve(),
      forgetTelemetryBefore: () => undefined,
    },
    pools: createBrowserPools({
      store: memoryPools(),
      registry: { max: 1, maxPooled: 0 },
      definitions: { onCreate: refused, onUpdate: refused },
      browsers: { start: refused, renew: refused, isAlive: refused, isFresh: refused, lease: refused, end: refused },
    }),
    profileRecords: null,
    profiles: { attach: refused, save: refused },
    proxies: { open: async () => ({ outcome: 'none' }) },
    tokens: createSessionTokens(),
    cdpProxy: { accept: quiet },
    bidiProxy: { accept: quiet },
    liveView: { accept: quiet },
    replays: { start: refused, stop: () => Promise.resolve() },
    replayStore: createReplayStore(path.join(os.tmpdir(), 'holdfast-no-replays')),
    programs: { receive: refused, prepare: refused },
    policy: PUBLIC_ONLY,
    logger: { info: quiet, warn: quiet, error: quiet },
  });
}
const authorization = `Bearer ${KEY}`;
const CALLS = [
  'click_mouse',
  'move_mouse',
  'type',
  'press_key',
  'scroll',
  'drag_mouse',
  'batch',
  'screenshot',
  'cursor',
  'get_mouse_position',
];

describe('the application', () => {
  it('serves exactly the operations of the contract', async () => {
    const service = app();
    const served: string[] = [];
    service.addHook('onRoute', ({ method, url }) => void served.push(`${[method].flat().join()} ${url}`));
    await service.ready();
    const listed = [...Object.values(BROWSER_ROUTES), ...Object.values(BROWSER_POOL_ROUTES)].map(({ method, url }) => ({
      method,
      url,
    }));
    for (const route of listed) expect([route, service.hasRoute(route)]).toEqual([route, true]);
    const known = listed.map(({ method, url }) => `${method} ${url}`);
    // What only our own parts call.
    const ours = (route: string): boolean =>
      / \/(programs\/|invocations\/|captcha_solves\/|session_usage$)/.test(route);
    expect(served.filter((route) => !route.startsWith('HEAD') && !known.includes(route) && !ours(route))).toEqual([]);
  });

  it('authenticates before it reads the body', async () => {
    const service = app();
    for (const headers of [
      {},
      { authorization: 'Bearer wrong' },
      { authorization: `Basic ${KEY}` },
      { authorization: KEY },
    ]) {
      const answer = await service.inject({
        method: 'POST',
        url: '/browsers',
        headers: { ...headers, 'content-type': 'application/json' },
        payload: '{',
      });
      expect(answer.statusCode).toBe(401);
      expect(answer.json()).toMatchObject({ code: 'unauthorized' });
    }
  });

  it.each([
    ['', 529],
    ['null', 529],
    ['{}', 529],
    ['{', 400],
    ['[]', 400],
    ['"x"', 400],
  ])('takes the body %j', async (payload, status) => {
    const answer = await app().inject({
      method: 'POST',
      url: '/browsers',
      headers: { authorization, 'content-type': 'application/json' },
      payload,
    });
    expect(answer.statusCode).toBe(status);
    if (status === 529) expect(answer.headers['retry-after']).toBe('7');
  });

  it('accepts a missing body', async () => {
    expect((await app().inject({ method: 'POST', url: '/browsers', headers: { authorization } })).statusCode).toBe(529);
  });

  it('reports invalid bodies and unknown paths as API errors', async () => {
    const form = { authorization, 'content-type': 'application/x-www-form-urlencoded' };
    const media = await app().inject({ method: 'POST', url: '/browsers', headers: form, payload: 'a=b' });
    expect([media.statusCode, media.json<{ code: string }>().code]).toEqual([415, 'unsupported_media_type']);
    const nowhere = await app().inject({ url: '/nowhere', headers: { authorization } });
    expect([nowhere.statusCode, nowhere.json<{ code: string }>().code]).toEqual([404, 'not_found']);
    const large = await app().inject({
      method: 'POST',
      url: '/browsers',
      headers: { authorization, 'content-type': 'application/json' },
      payload: JSON.stringify({ name: 'x'.repeat(2_000_000) }),
    });
    expect([large.statusCode, large.json<{ code: string }>().code]).toEqual([413, 'payload_too_large']);
  });

  it('rejects an unsupported method and lists the allowed ones', async () => {
    const service = app();
    for (const [method, url, allow] of [
      ['PUT', '/browsers', 'GET, HEAD, POST'],
      ['POST', '/browsers/brw_x', 'DELETE, GET, HEAD, PATCH'],
      ['GET', '/browsers/brw_x/process/exec?a=b', 'POST'],
      ['DELETE', '/browsers/a%20b/fs/write_file', 'PUT'],
    ] as const) {
      const answer = await service.inject({ method, url, headers: { authorization } });
      expect([answer.statusCode, answer.json<{ code: string }>().code]).toEqual([405, 'method_not_allowed']);
      expect(answer.headers['allow']).toBe(allow);
    }
    expect((await service.inject({ method: 'POST', url: '/browsers/x/nothing' })).statusCode).toBe(404);
    expect((await service.inject({ method: 'POST', url: '/browsers/%ED%A0%80' })).statusCode).not.toBe(500);
  });

  it.each([
    [{ gpu: true }, 'gpu'],
    [{ network: { region: 'x' } }, 'network'],
    [{ telemetry: { enabled: true, export: { s3: {} } } }, 'telemetry.export'],
  ])('says why it does not do %j', async (payload, field) => {
    const answer = await app().inject({ method: 'POST', url: '/browsers', headers: { authorization }, payload });
    expect(answer.statusCode).toBe(400);
    expect(answer.json<{ message: string }>().message).toMatch(new RegExp(`^${field}: .*;`));
  });

  it.each([
    [{ region: 'eu-west' }, 'region'],
    [{ memory: '3GiB' }, 'memory'],
    [{ memory: 8 }, 'memory'],
  ])('names what is wrong in %j', async (payload, field) => {
    for (const url of ['/browsers', '/browser_pools']) {
      const body = { ...payload, size: 1 };
      const answer = await app().inject({ method: 'POST', url, headers: { authorization }, payload: body });
      expect(answer.statusCode).toBe(400);
      expect(answer.json<{ message: string }>().message).toMatch(new RegExp(`^${field}: `));
    }
  });

  it.each([
    { extensions: [] },
    { gpu: false },
    { network: {} },
    { network: null },
    { memory: '16GiB' },
    { region: 'us-east' },
    // What deployments answer.
    { region: 'aws.us-east-1a' },
  ])('takes %j', async (payload) => {
    const answer = await app().inject({ method: 'POST', url: '/browsers', headers: { authorization }, payload });
    expect(answer.statusCode).toBe(529);
  });

  it('does not disclose internal errors', async () => {
    const broken = app(() => Promise.reject(new Error('secret of the machine')));
    const answer = await broken.inject({ method: 'POST', url: '/browsers', headers: { authorization } });
    expect(answer.statusCode).toBe(500);
    expect(answer.body).not.toContain('secret');
  });

  it('paginates an empty list', async () => {
    const answer = await app().inject({ url: '/browsers?limit=5&offset=0&tags[a]=b', headers: { authorization } });
    expect([answer.json(), answer.headers['x-has-more'], answer.headers['x-next-offset']]).toEqual([[], 'false', '0']);
    expect((await app().inject({ url: '/browsers?limit=0', headers: { authorization } })).statusCode).toBe(400);
  });

  it('handles any body and any id without an internal error', async () => {
    const service = app();
    await service.ready();
    const request = fc.record({
      method: fc.constantFrom('POST' as const, 'PATCH' as const, 'GET' as const, 'DELETE' as const),
      url: fc.oneof(
        fc.constant('/browsers'),
        fc.string().map((id) => `/browsers/${encodeURIComponent(id)}`),
        fc.constantFrom(...CALLS).map((call) => `/browsers/brw_x/computer/${call}`),
        fc.webPath().map((path) => `/browsers${path}`),
      ),
      payload: fc.option(fc.json(), { nil: undefined }),
    });
    await fc.assert(
      fc.asyncProperty(request, async ({ method, url, payload }) => {
        const headers = { authorization, ...(payload === undefined ? {} : { 'content-type': 'application/json' }) };
        const answer = await service.inject({ method, url, headers, ...(payload === undefined ? {} : { payload }) });
        expect(
          answer.statusCode === 529 || answer.statusCode < 500,
          `${method} ${url} ${String(payload)} → ${answer.body}`,
        ).toBe(true);
      }),
      { numRuns: 500 },
    );
  });
});
