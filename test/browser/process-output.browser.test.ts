import http from 'node:http';
import { describe, expect } from 'vitest';
import { heldMemory } from './held-memory.ts';
import type { ServiceUnderTest } from './service-under-test.ts';
import { API_KEY, eventually } from './service-under-test.ts';
import { it } from './shared-service.ts';

let service: ServiceUnderTest;
let id: string;
it.beforeAll(async ({ service: shared }) => {
  service = shared;
  id = (await service.kernel.browsers.create({ timeout_seconds: 600 })).session_id;
});

async function spawn(line: string, more: { allocate_tty?: boolean; cols?: number; rows?: number } = {}) {
  const request = { command: 'sh', args: ['-c', line], ...more };
  return (await service.kernel.browsers.process.spawn(id, request)).process_id ?? '';
}

function write(processId: string, text: string) {
  return service.kernel.browsers.process.stdin(processId, { id, data_b64: Buffer.from(text).toString('base64') });
}

/** Everything that a process says, by stream, and its exit code. */
async function whole(processId: string): Promise<{ stdout: string; stderr: string; code: number | undefined }> {
  const said = { stdout: '', stderr: '' };
  for await (const event of await service.kernel.browsers.process.stdoutStream(processId, { id })) {
    if (event.event === 'exit') return { ...said, code: event.exit_code };
    said[event.stream ?? 'stdout'] += Buffer.from(event.data_b64 ?? '', 'base64').toString('latin1');
  }
  return { ...said, code: undefined };
}

/** What a process has said so far, as it comes. */
async function follow(processId: string) {
  const events = (await service.kernel.browsers.process.stdoutStream(processId, { id }))[Symbol.asyncIterator]();
  let said = '';
  return {
    until: async (expected: string): Promise<string> => {
      while (!said.includes(expected)) {
        const next = await events.next();
        if (next.done === true) throw new Error(`ended after ${said}`);
        said += Buffer.from(next.value.data_b64 ?? '', 'base64').toString();
      }
      const [before = ''] = said.split(expected);
      said = said.slice(before.length + expected.length);
      return before;
    },
    close: () => events.return?.(),
  };
}

describe('the output of a process', () => {
  it('is streamed until its exit, also to late readers', async () => {
    const processId = await spawn("printf 'a\\377b'; printf err >&2; read line; echo $line; exit 7");
    const early = whole(processId);
    await write(processId, 'typed ü\n');
    const expected = { stdout: 'a\xffbtyped \xc3\xbc\n', stderr: 'err', code: 7 };
    expect(await early).toEqual(expected);
    expect(await whole(processId)).toEqual(expected);
  });

  it('is sent to every reader in full while the process runs', async () => {
    const processId = await spawn('while read line; do echo "got $line"; done');
    const readers = [await follow(processId), await follow(processId)];
    for (const word of ['one', 'two']) {
      await write(processId, `${word}\n`);
      for (const reader of readers) await reader.until(`got ${word}\n`);
    }
    for (const reader of readers) await reader.close();
    await service.kernel.browsers.process.kill(processId, { id, signal: 'KILL' });
  });

  it('neither accumulates nor waits for a reader that does not read', async () => {
    const processId = await spawn('head -c 300000000 /dev/zero; echo done >&2');
    const url = `${service.handle.url}/browsers/${id}/process/${processId}/stdout/stream`;
    const before = heldMemory();
    const request = http.get(url, { headers: { authorization: `Bearer ${API_KEY}` } });
    const response = await new Promise<http.IncomingMessage>((resolve) => request.once('response', resolve));
    response.pause();
    let most = 0;
    await eventually(async () => {
      most = Math.max(most, heldMemory() - before);
      expect((await service.kernel.browsers.process.status(processId, { id })).state).toBe('exited');
    });
    expect(most).toBeLessThan(20 * 1024 * 1024);
    let text = '';
    for await (const piece of response) text += String(piece);
    expect(text).toMatch(/: \d+ bytes were not read in time\n\n/);
    expect(text).toMatch(/"event":"exit","exit_code":0\}\n\n$/);
  });

  it.each([
    ['stdin', { data_b64: 'not base64!' }, 400],
    ['stdin', {}, 400],
    ['resize', { cols: 80, rows: 24 }, 400],
    ['resize', { cols: 0, rows: 24 }, 400],
    ['resize', { cols: 80, rows: 65_536 }, 400],
    ['kill', { signal: 'USR1' }, 400],
  ])('%s refuses %j with %i', async (operation, body, status) => {
    const processId = await spawn('sleep 600');
    const answer = await fetch(`${service.handle.url}/browsers/${id}/process/${processId}/${operation}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    expect(answer.status).toBe(status);
    await service.kernel.browsers.process.kill(processId, { id, signal: 'KILL' });
  });

  it('is rejected for an unknown process, as is input for an exited one', async () => {
    await expect(whole('nobody')).rejects.toMatchObject({ status: 404 });
    const processId = await spawn('exit 0');
    await whole(processId);
    await expect(write(processId, 'x')).rejects.toMatchObject({ status: 422 });
  });
});

describe('a terminal', () => {
  it('has a changeable size, line editing and control keys', async () => {
    const processId = await spawn('exec bash --norc --noediting -i', { allocate_tty: true, cols: 100, rows: 40 });
    const { until, close } = await follow(processId);
    await write(processId, 'test -t 0 && test -t 1 && stty size\n');
    await until('40 100\r\n');
    await service.kernel.browsers.process.resize(processId, { id, cols: 65_535, rows: 1 });
    await write(processId, 'stty size\n');
    await until('1 65535\r\n');
    // Erased before the line was sent. What is typed before the shell has prompted is echoed before its prompt.
    await write(processId, 'echo abX\x7fc\n');
    await until('abc\r\n');
    // The one that speaks is the one that is to be interrupted: the shell between two commands would hear it itself.
    await write(processId, 'sh -c \'echo be""gan; exec sleep 600\'\n');
    await until('began\r\n');
    await write(processId, '\x03');
    await write(processId, 'echo after $?\n');
    await until('after 130\r\n');
    await write(processId, 'exit 9\n');
    await close();
    expect((await whole(processId)).code).toBe(9);
  });

  it('has a default size, and none without a terminal', async () => {
    expect((await whole(await spawn('stty size', { allocate_tty: true }))).stdout).toBe('24 80\r\n');
    expect((await whole(await spawn('test -t 0 || echo none', { cols: 10, rows: 10 }))).stdout).toBe('none\n');
  });
});
