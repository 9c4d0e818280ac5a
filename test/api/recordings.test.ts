import { randomBytes } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApi, type RunningApi } from '../../api/service.ts';
import { newId } from '../../contract/ids.ts';
import { DEFAULT_ORGANIZATION_ID, DEFAULT_PROJECT_ID } from '../../store/store.ts';
import { API_KEY, useService } from './service-fixture.ts';

const fixture = useService();
const SCOPE = { organizationId: DEFAULT_ORGANIZATION_ID, projectId: DEFAULT_PROJECT_ID };
const VIDEO = randomBytes(1_500_000);
const TIMES = { startedAt: new Date('2026-01-01T10:00:00Z'), finishedAt: new Date('2026-01-01T10:01:00Z') };
const THEIRS = { replay_id: 'rep_theirs', started_at: TIMES.startedAt.toISOString(), finished_at: null, more: 1 };
let upstream: Server;
let api: RunningApi;
let asked: string[] = [];
let mine = { id: '', sessionId: '' };

/** A browser service that has a replay of its own of every session but those that it has forgotten. */
beforeAll(async () => {
  upstream = createServer((request, response) => {
    asked.push(`${request.method ?? ''} ${request.url ?? ''}`);
    response.statusCode = request.url?.includes('forgotten') === true ? 404 : 200;
    response.end(response.statusCode === 404 ? 'gone' : JSON.stringify([THEIRS]));
  });
  await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
  const { deps, store, call } = fixture();
  const browserBaseUrl = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`;
  api = await startApi({ ...deps, settings: { ...deps.settings, browserBaseUrl }, port: 0 });
  const made = await call('POST', '/auth/connections', { profile_name: 'ann', domain: 'site.example' });
  mine = await keep(made.json<{ id: string }>().id, newId('brw'));

  async function keep(connectionId: string, sessionId: string): Promise<{ id: string; sessionId: string }> {
    const id = newId('rep');
    await store.recordings.keep(SCOPE, { id, connectionId, sessionId, ...TIMES, video: VIDEO });
    const forgotten = { id: newId('rep'), connectionId, sessionId: 'forgotten', ...TIMES, video: VIDEO };
    await store.recordings.keep(SCOPE, forgotten);
    return { id, sessionId };
  }
});
afterAll(async () => {
  await api.close();
  upstream.closeAllConnections();
  upstream.close();
});

const send = (path: string, headers: Record<string, string> = {}): Promise<Response> => {
  asked = [];
  return fetch(`${api.url}${path}`, { headers: { authorization: `Bearer ${API_KEY}`, ...headers } });
};

describe('recordings fetched from their session', () => {
  it('are downloaded like any replay', async () => {
    const answer = await send(`/browsers/${mine.sessionId}/replays/${mine.id}`);
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'video/mp4']);
    expect(Number(answer.headers.get('content-length'))).toBe(VIDEO.length);
    expect(Buffer.from(await answer.arrayBuffer()).equals(VIDEO)).toBe(true);
    expect(asked).toEqual([]);
  });

  it('are listed with those of the browser service, or alone if it no longer knows the session', async () => {
    const own = { started_at: '2026-01-01T10:00:00.000Z', finished_at: '2026-01-01T10:01:00.000Z' };
    expect(await (await send(`/browsers/${mine.sessionId}/replays`)).json()).toEqual([
      { replay_id: mine.id, ...own },
      THEIRS,
    ]);
    expect(await (await send('/browsers/forgotten/replays')).json()).toMatchObject([own]);
  });

  it('require a key for their project', async () => {
    const { id } = (await fixture().call('POST', '/org/projects', { name: 'other' })).json<{ id: string }>();
    const elsewhere = { 'X-Kernel-Project-Id': id };
    await (await send(`/browsers/${mine.sessionId}/replays/${mine.id}`, elsewhere)).text();
    // The browser service answers: the store has nothing to show there.
    expect(asked).toEqual([`GET /browsers/${mine.sessionId}/replays/${mine.id}`]);
    const stranger = await send(`/browsers/${mine.sessionId}/replays/${mine.id}`, { authorization: 'Bearer x' });
    expect(stranger.status).toBe(401);
    await (await send(`/browsers/${mine.sessionId}/replays/${mine.id}?jwt=x`, { authorization: '' })).text();
    expect(asked).toHaveLength(1);
  });

  it.each(['/browsers/b1/replays', '/browsers/b1/replays/rep_theirs', '/browsers/b1/replays/%E0%A4%A'])(
    'are not in the way of %s',
    async (path) => {
      const answer = await send(path);
      expect(answer.status).toBe(path.includes('%E0') ? 400 : 200);
      expect(asked).toEqual(path.includes('%E0') ? [] : [`GET ${path}`]);
    },
  );
});
