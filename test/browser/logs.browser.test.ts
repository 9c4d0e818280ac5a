import { appendFile, rename, truncate, writeFile } from 'node:fs/promises';
import { readdir } from 'node:fs/promises';
import http from 'node:http';
import path from 'node:path';
import { describe, expect } from 'vitest';
import { heldMemory } from './held-memory.ts';
import type { ServiceUnderTest } from './service-under-test.ts';
import { API_KEY, eventually } from './service-under-test.ts';
import { it } from './shared-service.ts';

let service: ServiceUnderTest;
let id: string;
let root: string;
it.beforeAll(async ({ service: shared }) => {
  service = shared;
  id = (await service.kernel.browsers.create({ timeout_seconds: 600, headless: false })).session_id;
  const [name] = await readdir(path.join(service.workDir, 'sessions'));
  root = path.join(service.workDir, 'sessions', name ?? '', 'Session/root');
});

const stream = (query: Parameters<typeof service.kernel.browsers.logs.stream>[1]) =>
  service.kernel.browsers.logs.stream(id, query);

/** All lines of a log, without following it. */
async function whole(query: Parameters<typeof service.kernel.browsers.logs.stream>[1]): Promise<string[]> {
  const messages: string[] = [];
  for await (const event of await stream({ ...query, follow: false })) {
    expect(event.event).toBe('log');
    expect(Date.parse(event.timestamp)).toBeGreaterThan(0);
    messages.push(event.message);
  }
  return messages;
}

describe('a log file of a session', () => {
  it('is read to the end, line by line', async () => {
    await writeFile(path.join(root, 'tmp/one.log'), 'first ü\r\nsecond\n\nlast without an end');
    expect(await whole({ source: 'path', path: '/tmp/one.log' })).toEqual([
      'first ü',
      'second',
      '',
      'last without an end',
    ]);
  });

  it('is followed through rotation, truncation and partial characters', async () => {
    const file = path.join(root, 'tmp/two.log');
    await writeFile(file, 'zero\n');
    const events = (await stream({ source: 'path', path: '/tmp/two.log' }))[Symbol.asyncIterator]();
    const next = async (): Promise<string | undefined> => {
      const { value } = (await events.next()) as { value?: { message: string } };
      return value?.message;
    };
    expect(await next()).toBe('zero');
    const snowman = Buffer.from('☃\n');
    await appendFile(file, snowman.subarray(0, 1));
    await appendFile(file, snowman.subarray(1));
    expect(await next()).toBe('☃');
    await rename(file, `${file}.1`);
    await writeFile(file, 'new file\n');
    expect(await next()).toBe('new file');
    await truncate(file, 0);
    await appendFile(file, 'short\n');
    expect(await next()).toBe('short');
    await events.return?.();
  });

  it('responds immediately, even without any lines', async () => {
    await writeFile(path.join(root, 'tmp/silent.log'), '');
    const url = `${service.handle.url}/browsers/${id}/logs/stream?source=path&path=/tmp/silent.log`;
    const status = await new Promise((resolve) => {
      const request = http.get(url, { headers: { authorization: `Bearer ${API_KEY}` } }, (response) => {
        resolve(response.headers['content-type']);
        request.destroy();
      });
    });
    expect(status).toMatch(/^text\/event-stream/);
  });

  it('is not buffered in memory for a stuck reader', async () => {
    for (let count = 0; count < 40; count += 1) {
      await appendFile(path.join(root, 'tmp/large.log'), `${'x'.repeat(1000)}\n`.repeat(2000));
    }
    const url = `${service.handle.url}/browsers/${id}/logs/stream?source=path&path=/tmp/large.log`;
    const headers = { authorization: `Bearer ${API_KEY}` };
    const before = heldMemory();
    const request = http.get(url, { headers });
    await new Promise((resolve) =>
      request.once('response', (response: http.IncomingMessage) => resolve(response.pause())),
    );
    // Long enough for another reader to receive all of it.
    const other = (await fetch(`${url}&follow=false`, { headers })).body?.getReader();
    while ((await other?.read())?.done === false);
    expect(heldMemory() - before).toBeLessThan(20 * 1024 * 1024);
    request.destroy();
  });

  it.each([
    [{ source: 'path' as const }, 400],
    [{ source: 'path' as const, path: 'tmp/one.log' }, 400],
    [{ source: 'path' as const, path: '/tmp' }, 400],
    [{ source: 'path' as const, path: '/tmp/none.log' }, 404],
    [{ source: 'path' as const, path: '/etc/passwd' }, 403],
    [{ source: 'supervisor' as const }, 400],
    [{ source: 'supervisor' as const, supervisor_process: '../../x' }, 400],
    [{ source: 'supervisor' as const, supervisor_process: 'recorder' }, 404],
  ])('refuses %j with %i', async (query, status) => {
    await expect(stream(query)).rejects.toMatchObject({ status });
  });
});

describe('the supervised processes of a session', () => {
  it('have a log each, with shortened URLs', async () => {
    const lines = await eventually(async () => {
      const found = await whole({ source: 'supervisor', supervisor_process: 'chromium' });
      expect(found.join('\n')).toContain('DevTools listening on');
      return found;
    });
    expect(lines.find((line) => line.includes('DevTools listening'))).toMatch(/ws:\/\/127\.0\.0\.1:\d+\/…$/);
    expect(lines.join('\n')).not.toMatch(/devtools\/browser/);
  });

  it('log ignored members of the request body', async () => {
    const answer = await fetch(`${service.handle.url}/browsers`, {
      method: 'POST',
      headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify({ headless: true, hologram: { password: 'never told' }, 'a\nb': 1 }),
    });
    const { session_id: started } = (await answer.json()) as { session_id: string };
    const query = { source: 'supervisor', supervisor_process: 'service', follow: false } as const;
    const messages: string[] = [];
    for await (const { message } of await service.kernel.browsers.logs.stream(started, query)) messages.push(message);
    expect(messages).toHaveLength(1);
    expect(messages[0]).toMatch(/ignored unknown members: "hologram", "a\\nb"$/);
    await service.kernel.browsers.deleteByID(started);
  });
});
