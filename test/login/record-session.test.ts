import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { createBrowserService } from '../../activities/browser/service.ts';
import { recordSession } from '../../activities/login/record-session.ts';
import type { LoginTarget } from '../../contract/activities.ts';
import { loginTarget } from './login-target.ts';

type Answers = Record<'GET' | 'POST', [status: number, body: unknown]>;

const NONE: [number, unknown] = [200, []];
const STARTED: [number, unknown] = [201, { replay_id: 'rep_new', started_at: 'now', replay_view_url: null, more: 1 }];

let stop: (() => Promise<void>) | undefined;
afterEach(async () => {
  await stop?.();
});

/** Has `b/1` recorded at a browser service that answers as it is told; what was asked, and what came of it. */
async function record(
  answers: Answers,
  more: Partial<LoginTarget> = { recordSession: true },
  signal = new AbortController().signal,
): Promise<{ asked: string[]; id: string | null }> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(`${request.method ?? ''} ${request.url ?? ''} ${String(request.headers['x-kernel-project-id'])}`);
    const [status, body] = answers[request.method === 'POST' ? 'POST' : 'GET'];
    response.statusCode = status;
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const service = createBrowserService({ baseUrl, apiKey: 'key' });
  stop = async () => {
    await service.close();
    server.closeAllConnections();
    server.close();
  };
  return { asked, id: await recordSession(service, loginTarget(more), 'b/1', signal) };
}

describe('the recording of a login', () => {
  it('is started for a connection that asks for it, in its project', async () => {
    const { asked, id } = await record({ GET: NONE, POST: STARTED });
    expect(asked).toEqual(['GET /browsers/b%2F1/replays p', 'POST /browsers/b%2F1/replays p']);
    expect(id).toBe('rep_new');
  });

  it.each([{ recordSession: false }, {}])('is not for others', async (more) => {
    expect(await record({ GET: NONE, POST: STARTED }, more)).toEqual({ asked: [], id: null });
  });

  it('goes on when an earlier try has started it', async () => {
    const earlier = [
      { replay_id: 'rep_over', finished_at: '2026-01-01T00:00:00Z' },
      { replay_id: 'rep_runs', finished_at: null },
    ];
    const { asked, id } = await record({ GET: [200, earlier], POST: [422, { code: 'operation_failed' }] });
    expect(asked).toHaveLength(1);
    expect(id).toBe('rep_runs');
  });

  it.each<[string, Answers]>([
    ['has no replays', { GET: [404, ''], POST: [404, ''] }],
    ['does not record', { GET: NONE, POST: [501, { code: 'not_implemented' }] }],
    ['has no recorder', { GET: NONE, POST: [422, { code: 'operation_failed' }] }],
    ['fails', { GET: NONE, POST: [500, 'oops'] }],
    ['answers nothing', { GET: NONE, POST: [200, ''] }],
    ['answers nonsense', { GET: [200, { replays: [] }], POST: STARTED }],
  ])('fails no login where the browser service %s', async (_, answers) => {
    expect((await record(answers)).id).toBeNull();
  });

  it('ends with the activity that started it', async () => {
    await expect(record({ GET: NONE, POST: STARTED }, undefined, AbortSignal.abort())).rejects.toThrow();
  });
});
