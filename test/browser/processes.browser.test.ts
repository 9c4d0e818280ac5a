import { describe, expect } from 'vitest';
import type { ServiceUnderTest } from './service-under-test.ts';
import { eventually } from './service-under-test.ts';
import { it } from './shared-service.ts';

let service: ServiceUnderTest;
let id: string;
it.beforeAll(async ({ service: shared }) => {
  service = shared;
  id = (await service.kernel.browsers.create({ timeout_seconds: 600 })).session_id;
});

/** Runs a shell line and reads what it said as text. */
async function shell(line: string, more: Partial<Parameters<typeof service.kernel.browsers.process.exec>[1]> = {}) {
  const answer = await service.kernel.browsers.process.exec(id, { command: 'sh', args: ['-c', line], ...more });
  const text = (data: string | undefined): string => Buffer.from(data ?? '', 'base64').toString();
  return { code: answer.exit_code, out: text(answer.stdout_b64), err: text(answer.stderr_b64), raw: answer };
}

function statusOf(processId: string) {
  return service.kernel.browsers.process.status(processId, { id });
}

/** Resolves with the status when it has ended. */
function ended(processId: string) {
  return eventually(async () => {
    const status = await statusOf(processId);
    expect(status.state).toBe('exited');
    return status;
  });
}

describe('exec', () => {
  it('runs a program with arguments, and returns its output and exit code', async () => {
    const { out, err, code, raw } = await shell('printf out; printf err >&2; exit 3');
    expect({ out, err, code }).toEqual({ out: 'out', err: 'err', code: 3 });
    expect(raw.duration_ms).toBeGreaterThanOrEqual(0);
    const plain = await service.kernel.browsers.process.exec(id, { command: 'echo', args: ['$HOME; exit 1', 'ü'] });
    expect(Buffer.from(plain.stdout_b64 ?? '', 'base64').toString()).toBe('$HOME; exit 1 ü\n');
    const missing = { command: 'no-such-program', args: [] };
    expect((await service.kernel.browsers.process.exec(id, missing)).exit_code).toBe(127);
  });

  it('runs a command line in a shell if there are no arguments', async () => {
    const run = async (body: { command: string; args?: string[] }) => {
      const answer = await service.kernel.browsers.process.exec(id, { env: { WHO: 'a b' }, ...body });
      return [answer.exit_code, Buffer.from(answer.stdout_b64 ?? '', 'base64').toString()];
    };
    expect(await run({ command: 'echo one; echo "$WHO" | tr a-z A-Z; exit 4' })).toEqual([4, 'one\nA B\n']);
    expect(await run({ command: 'no-such-program' })).toEqual([127, '']);
    expect(await run({ command: 'echo one; echo two', args: [] })).toEqual([127, '']);
    const line = { command: 'sleep 1000 & echo $!; wait' };
    const { process_id: processId = '' } = await service.kernel.browsers.process.spawn(id, line);
    await service.kernel.browsers.process.kill(processId, { id, signal: 'TERM' });
    expect((await ended(processId)).exit_code).not.toBe(0);
  });

  it('returns any bytes of any length', async () => {
    const { raw } = await shell("head -c 5000000 /dev/zero | tr '\\0' '\\377'; printf '\\0\\001\\n' >&2");
    const bytes = Buffer.from(raw.stdout_b64 ?? '', 'base64');
    expect(bytes.length).toBe(5_000_000);
    expect(bytes.every((byte) => byte === 255)).toBe(true);
    expect([...Buffer.from(raw.stderr_b64 ?? '', 'base64')]).toEqual([0, 1, 10]);
  });

  it('truncates long output, and reports it', async () => {
    const { data, response } = await service.kernel.browsers.process
      .exec(id, { command: 'head', args: ['-c', '70000000', '/dev/zero'] })
      .withResponse();
    expect(data.exit_code).toBe(0);
    expect(Buffer.from(data.stdout_b64 ?? '', 'base64').length).toBe(64 * 1024 * 1024);
    expect(response.headers.get('x-holdfast-truncated')).toBe('stdout');
  });

  it('applies timeout, working directory and environment', async () => {
    expect((await shell('echo first; sleep 60; echo never', { timeout_sec: 1 })).code).toBe(124);
    expect((await shell('pwd', { cwd: '/var/log' })).out).toBe('/var/log\n');
    const env = { PLAIN: "it's ü\n$(id) `id` \\", HOLDFAST_EMPTY: '', PATH: '/usr/bin:/bin' };
    const seen = (await shell('env -0', { env })).out.split('\0');
    expect(seen).toContain(`PLAIN=${env.PLAIN}`);
    expect(seen).toContain('HOLDFAST_EMPTY=');
    expect(seen).toContain('PATH=/usr/bin:/bin');
    expect(seen.filter((line) => /HOLDFAST|DATABASE|NODE|npm/.test(line) && line !== 'HOLDFAST_EMPTY=')).toEqual([]);
  });

  it('kills the command when the client disconnects', async () => {
    const gone = new AbortController();
    const running = service.kernel.browsers.process.exec(
      id,
      { command: 'sh', args: ['-c', 'touch /tmp/began; sleep 600; touch /tmp/finished'] },
      { signal: gone.signal },
    );
    await eventually(async () => expect((await shell('ls /tmp/began')).code).toBe(0));
    gone.abort();
    await expect(running).rejects.toThrow();
    await eventually(async () => {
      const files = await service.kernel.browsers.fs.listFiles(id, { path: '/tmp' });
      expect(files.map(({ name }) => name)).toContain('began');
    });
    const { stdout } = await hostProcesses();
    expect(stdout).not.toContain('touch /tmp/finished');
  });

  it.each([
    [{ command: '' }, 'command'],
    [{ command: 'true', cwd: 'tmp' }, 'cwd'],
    [{ command: 'true', cwd: '/no/such' }, 'cwd'],
    [{ command: 'true', as_user: 'postgres' }, 'as_user'],
    [{ command: 'true', as_user: 'user', as_root: true }, 'as_root'],
    [{ command: 'true', env: { 'A=B': 'c' } }, 'env.A=B'],
    [{ command: 'true', env: { A: 'a\0b' } }, 'env.A'],
    [{ command: 'tr\0ue' }, 'command'],
    [{ command: 'true', timeout_sec: 0 }, 'timeout_sec'],
    [{ command: 'true', allocate_tty: true }, 'allocate_tty'],
  ])('refuses %j, naming the field', async (body, field) => {
    await expect(service.kernel.browsers.process.exec(id, body)).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining(`${field}: `) as unknown,
    });
  });
});

describe('spawn', () => {
  it('responds immediately, and keeps the status after the exit', async () => {
    const spawned = await service.kernel.browsers.process.spawn(id, { command: 'sleep', args: ['600'] });
    expect(spawned.pid).toBeGreaterThan(1);
    expect(Date.parse(spawned.started_at ?? '')).toBeGreaterThan(0);
    const processId = spawned.process_id ?? '';
    const status = await statusOf(processId);
    expect(status).toMatchObject({ state: 'running', exit_code: null });
    expect(status.mem_bytes).toBeGreaterThan(0);
    await service.kernel.browsers.process.kill(processId, { id, signal: 'KILL' });
    expect(await ended(processId)).toEqual({ state: 'exited', exit_code: 137 });
    await expect(service.kernel.browsers.process.kill(processId, { id, signal: 'TERM' })).rejects.toMatchObject({
      status: 422,
    });
    await expect(statusOf('nobody')).rejects.toMatchObject({ status: 404 });
  });

  it.each(['TERM', 'INT', 'HUP'] as const)('sends %s to the whole group, which may handle it', async (signal) => {
    const file = `/tmp/left-${signal}`;
    const line = `trap 'echo bye > ${file}; exit 5' ${signal}; sh -c "trap 'echo bye > ${file}-2; exit' ${signal}; sleep 600 & wait" & sleep 600 & wait; wait`;
    const spawned = await service.kernel.browsers.process.spawn(id, { command: 'sh', args: ['-c', line] });
    const processId = spawned.process_id ?? '';
    // The traps are set when both shells have got as far as to wait.
    await eventually(async () => {
      const { out } = await shell('true');
      expect(out).toBe('');
      expect((await hostProcesses()).stdout.split(`left-${signal}`).length).toBeGreaterThan(4);
    });
    await service.kernel.browsers.process.kill(processId, { id, signal });
    expect((await ended(processId)).exit_code).toBe(5);
  });

  it('does not lose an immediate signal', async () => {
    for (let round = 0; round < 10; round++) {
      const spawned = await service.kernel.browsers.process.spawn(id, { command: 'sleep', args: ['600'] });
      await service.kernel.browsers.process.kill(spawned.process_id ?? '', { id, signal: 'TERM' });
      expect((await ended(spawned.process_id ?? '')).exit_code).toBe(143);
    }
  });

  it('applies its timeout to the process and its children', async () => {
    const spawned = await service.kernel.browsers.process.spawn(id, {
      command: 'sh',
      args: ['-c', "trap '' TERM INT; (setsid sleep 4711 &) ; sleep 4711"],
      timeout_sec: 1,
    });
    expect((await ended(spawned.process_id ?? '')).exit_code).toBe(124);
    await eventually(async () => expect((await hostProcesses()).stdout).not.toContain('sleep 4711'));
  });
});

async function hostProcesses(): Promise<{ stdout: string }> {
  const { execFile } = await import('node:child_process');
  const { promisify } = await import('node:util');
  return promisify(execFile)('ps', ['-eo', 'args'], { maxBuffer: 10_000_000 });
}
