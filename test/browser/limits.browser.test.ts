import os from 'node:os';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Agent, fetch, FormData } from 'undici';
import { API_KEY } from './memory-profiles.ts';
import type { ForkedService } from './service-as-user.ts';
import { SERVICE_USERS, startServiceAsUser } from './service-as-user.ts';

const MEGABYTE = 1024 * 1024;
const processLimits = { memoryBytes: 256 * MEGABYTE, processes: 60, fileBytes: 16 * MEGABYTE, niceness: 7 };

type ExecRequest = Parameters<ForkedService['kernel']['browsers']['process']['exec']>[1];

async function run(service: ForkedService, session: string, line: string, more: Partial<ExecRequest> = {}) {
  const answer = await service.kernel.browsers.process.exec(session, { command: 'bash', args: ['-c', line], ...more });
  const text = (data: string | undefined): string => Buffer.from(data ?? '', 'base64').toString();
  return { code: answer.exit_code, out: text(answer.stdout_b64), err: text(answer.stderr_b64) };
}

describe.each(SERVICE_USERS)('a program of a service that runs as $as', ({ ordinary }) => {
  let service: ForkedService;
  let id: string;
  let other: string;

  beforeAll(async () => {
    service = await startServiceAsUser({ ordinary, options: { processLimits } });
    id = (await service.kernel.browsers.create({ timeout_seconds: 600 })).session_id;
    other = (await service.kernel.browsers.create({ timeout_seconds: 600 })).session_id;
  });
  afterAll(async () => {
    await service.stop();
  });

  /** While something goes on, the same session and another one answer. */
  async function answersMeanwhile<T>(going: Promise<T>): Promise<T> {
    for (const session of [other, id]) expect((await run(service, session, 'echo there')).out).toBe('there\n');
    expect((await service.kernel.browsers.create({ timeout_seconds: 60 })).session_id).toMatch(/^brw_/);
    return going;
  }

  it.each([{}, { as_root: true }])('cannot raise its limits (%j)', async (more) => {
    const line = 'ulimit -c; ulimit -d; ulimit -f; ulimit -u; nice; cat /proc/self/oom_score_adj';
    expect((await run(service, id, line, more)).out).toBe(
      `0\n${256 * 1024}\n${16 * 1024}\n60\n${os.getPriority() + 7}\n1000\n`,
    );
    for (const limit of ['-d', '-f', '-u']) {
      expect((await run(service, id, `ulimit ${limit} unlimited`, more)).code).not.toBe(0);
    }
  });

  it('that allocates endlessly is killed', async () => {
    const { code, err } = await answersMeanwhile(run(service, id, 'tail /dev/zero'));
    expect(code).not.toBe(0);
    expect(err).toContain('memory exhausted');
  });

  it('cannot get more through /dev', async () => {
    const { err } = await run(service, id, 'for i in {1..40}; do head -c 15M /dev/zero > /dev/shm/$i || break; done');
    expect(err).toContain('No space left on device');
    expect((await run(service, id, 'touch /dev/x')).code).not.toBe(0);
  });

  it.each([{}, { as_root: true }])('that forks endlessly affects only itself (%j)', async (more) => {
    const bomb = 'bomb() { bomb | bomb & }; bomb; while :; do sleep 0.1; done';
    const going = run(service, id, bomb, { timeout_sec: 2, ...more });
    const { code, err } = await answersMeanwhile(going);
    expect(code).toBe(124);
    expect(err).toContain('Resource temporarily unavailable');
    expect((await run(service, id, 'echo after')).out).toBe('after\n');
  });

  it('that writes endlessly fails at the file size limit', async () => {
    const { code } = await answersMeanwhile(run(service, id, 'head -c 1G /dev/zero > ~/large'));
    expect(code).not.toBe(0);
    const { size_bytes: size } = await service.kernel.browsers.fs.fileInfo(id, { path: '/home/user/large' });
    expect(size).toBe(16 * MEGABYTE);
  });
});

it('a full disk affects neither the service nor unrelated operations', async () => {
  const service = await startServiceAsUser({ ordinary: true, smallDisk: true });
  try {
    const { kernel } = service;
    const id = (await kernel.browsers.create({ timeout_seconds: 600 })).session_id;
    const other = (await kernel.browsers.create({ timeout_seconds: 600 })).session_id;
    expect((await run(service, id, 'cat /dev/zero > ~/all')).err).toContain('No space left on device');
    const refused = { status: 422, message: expect.stringContaining('no space left') as unknown };
    // On one connection: a refused body must not stand before the next request.
    const dispatcher = new Agent({ connections: 1, pipelining: 1 });
    const headers = { authorization: `Bearer ${API_KEY}` };
    const large = Buffer.alloc(4 * MEGABYTE);
    const form = new FormData();
    form.set('file', new Blob([large]), 'x');
    form.set('dest_path', '/tmp/x');
    const uploads = [
      ['PUT', 'write_file?path=/tmp/x', large],
      ['POST', 'upload', form],
    ] as const;
    for (const [method, operation, body] of uploads) {
      const url = `${service.url}/browsers/${other}/fs/${operation}`;
      const answer = await fetch(url, { method, body, dispatcher, headers });
      expect([answer.status, await answer.text()]).toEqual([422, expect.stringContaining('no space left')]);
    }
    const next = await fetch(`${service.url}/browsers/${other}`, { dispatcher, headers });
    expect(next.status).toBe(200);
    await next.text();
    await dispatcher.close();
    // The last pages come and go with the browsers: a program starts in them, or is refused.
    for (const session of [id, other, id, other]) {
      await run(service, session, 'true').catch((error: unknown) => {
        expect(error).toMatchObject(refused);
      });
      await kernel.browsers.fs.writeFile(session, Buffer.alloc(4096), { path: '/tmp/page' }).catch(() => undefined);
    }
    expect((await kernel.browsers.fs.listFiles(id, { path: '/home/user' })).map(({ name }) => name)).toEqual(['all']);
    expect((await kernel.browsers.list()).items).toHaveLength(2);
    await kernel.browsers.fs.deleteFile(id, { path: '/home/user/all' });
    expect((await run(service, other, 'echo there')).out).toBe('there\n');
    expect((await run(service, id, 'echo there')).out).toBe('there\n');
  } finally {
    await service.stop();
  }
});
