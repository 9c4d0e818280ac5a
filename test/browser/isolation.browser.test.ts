import { randomBytes } from 'node:crypto';
import { readdir, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { chromium } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { commandLines } from './running-processes.ts';
import type { ForkedService } from './service-as-user.ts';
import { namespacesAllowed, SERVICE_USERS, startServiceAsUser } from './service-as-user.ts';
import { eventually } from './service-under-test.ts';

describe.each(SERVICE_USERS)('the sandbox of a service that runs as $as', ({ ordinary }) => {
  let service: ForkedService;
  let id: string;
  let other: string;
  const secret = `secret-${randomBytes(8).toString('hex')}`;
  const secretFile = path.join(os.tmpdir(), secret);

  beforeAll(async () => {
    await writeFile(secretFile, secret, { mode: 0o644 });
    service = await startServiceAsUser({ ordinary });
    if (!(await namespacesAllowed(service.userId))) {
      throw new Error(
        `user namespaces are forbidden here for user ${String(service.userId)}: nothing of this can be shown`,
      );
    }
    id = (await service.kernel.browsers.create({ timeout_seconds: 600 })).session_id;
    other = (await service.kernel.browsers.create({ timeout_seconds: 600 })).session_id;
  });
  afterAll(async () => {
    await service.stop();
    await rm(secretFile);
  });

  type ExecOptions = Partial<Parameters<typeof service.kernel.browsers.process.exec>[1]>;
  async function run(session: string, line: string, more: ExecOptions = {}) {
    const answer = await service.kernel.browsers.process.exec(session, { command: 'sh', args: ['-c', line], ...more });
    const text = (data: string | undefined): string => Buffer.from(data ?? '', 'base64').toString();
    return { code: answer.exit_code, out: text(answer.stdout_b64), err: text(answer.stderr_b64) };
  }
  const shell = (line: string, more: ExecOptions = {}) => run(id, line, more);

  it('shows a page in the requested size', async () => {
    const session = await service.kernel.browsers.create({
      viewport: { width: 700, height: 500 },
      timeout_seconds: 60,
    });
    const browser = await chromium.connectOverCDP(session.cdp_ws_url, { noDefaults: true });
    expect(
      await browser
        .contexts()[0]
        ?.pages()[0]
        ?.evaluate(() => [innerWidth, innerHeight]),
    ).toEqual([700, 500]);
    await browser.close();
    await service.kernel.browsers.deleteByID(session.session_id);
  });

  it('keeps Chromium’s own sandbox, unless it runs as root', async () => {
    const lines = await commandLines();
    const browsers = lines.filter(
      (line) => line.includes(`--user-data-dir=${service.workDir}`) && !line.includes('--type='),
    );
    expect(browsers.length).toBeGreaterThan(0);
    expect(browsers.some((line) => line.includes('--no-sandbox'))).toBe(service.userId === 0);
  });

  it('offers unprivileged users by name', async () => {
    const inside = service.userId === 0 ? '61000' : '1000';
    expect((await shell('id -u; id -un; echo $HOME')).out).toBe(`${inside}\nuser\n/home/user\n`);
    expect((await shell('id -u', { as_user: 'user' })).out).toBe(`${inside}\n`);
    for (const more of [{ as_root: true }, { as_user: 'root' }]) {
      expect((await shell('id -u; id -un; echo $HOME', more)).out).toBe('0\nroot\n/root\n');
    }
    for (const more of [{}, { as_root: true }]) {
      const { out } = await shell('grep -E "^(Cap(Inh|Prm|Eff|Amb)|NoNewPrivs)" /proc/self/status', more);
      expect(out.split('\n').filter((line) => !/^Cap\w+:\t0{16}$/.test(line))).toEqual(['NoNewPrivs:\t1', '']);
    }
    for (const name of ['nobody', 'alice']) {
      await expect(shell('true', { as_user: name })).rejects.toMatchObject({ status: 400 });
    }
  });

  it.each([{}, { as_root: true }])('hides the files of the machine (%j)', async (more) => {
    const places = [
      secretFile,
      service.workDir,
      path.join(import.meta.dirname, 'png.ts'),
      '/etc/shadow',
      '/etc/hostname',
    ];
    const known = await shell(`cat ${places.join(' ')}; ls -d ${service.workDir}`, more);
    expect(known.out).toBe('');
    // Below /usr are the machine's programs: the same for everybody.
    const found = await shell(`grep -rl ${secret} / --exclude-dir=usr --exclude-dir=proc --exclude-dir=dev -s`, more);
    expect(found.out).toBe('');
    const ways = '/proc/1/root /proc/self/root/.. /proc/self/cwd/../../..';
    const climbed = await shell(`for way in ${ways}; do cat $way${secretFile}; ls $way; done`, more);
    expect(climbed.out).not.toMatch(/secret|work|boot|srv/);
    expect((await shell('ls /', more)).out.split('\n')).not.toContain('work');
    expect((await shell('ls -A /run /run/holdfast', more)).out).toBe('/run:\nholdfast\n\n/run/holdfast:\nenv\n');
  });

  it.each([{}, { as_root: true }])('only permits changes to the session’s own files (%j)', async (more) => {
    const places = '/x /usr/x /etc/x /run/x /run/holdfast/x /etc/passwd /run/holdfast/env /bin/sh';
    const written = await shell(`for place in ${places}; do (echo x >> $place) && echo $place; done`, more);
    expect(written.out).toBe('');
    expect((await shell('mount -t tmpfs none /tmp || mount --bind /tmp /usr || umount /usr', more)).code).not.toBe(0);
    expect((await shell('mknod /tmp/disk b 254 0', more)).code).not.toBe(0);
    expect(
      (await shell('mknod /tmp/disk b 254 0; unshare --user --map-root-user mount -o remount,rw,bind /usr', more)).code,
    ).not.toBe(0);
    expect((await shell('find /dev -type b', more)).out).toBe('');
    expect((await shell('echo x > ~/mine && cat ~/mine; rm ~/mine', more)).out).toBe('x\n');
  });

  it('has no network, and no access to the service', async () => {
    expect((await shell('tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d " "')).out).toBe('lo\n');
    const { port } = new URL(service.url);
    const { code, err } = await shell(`exec 3<>/dev/tcp/127.0.0.1/${port}`, {
      command: 'bash',
      args: ['-c', `exec 3<>/dev/tcp/127.0.0.1/${port}`],
    });
    expect(code).not.toBe(0);
    expect(err).toContain('refused');
    expect((await shell('tail -n +2 /proc/net/unix')).out).toBe('');
  });

  it('hides and protects the processes of others', async () => {
    const waiting = await service.kernel.browsers.process.spawn(other, { command: 'sleep', args: ['600'] });
    const pids = (await shell('ls /proc | grep -E "^[0-9]+$"')).out.trim().split('\n').map(Number);
    expect(Math.max(...pids)).toBeLessThan(50);
    expect((await shell('cat /proc/[0-9]*/cmdline | tr "\\0" " "')).out).not.toMatch(/sleep 600|chrom|forked-service/);
    for (const pid of [service.pid, waiting.pid ?? -1]) {
      expect((await shell(`kill -9 ${String(pid)}`)).err).toContain('No such process');
    }
    // Everything that it may signal at all.
    for (const more of [{}, { as_root: true }]) await shell('kill -9 -1', more);
    const { state } = await service.kernel.browsers.process.status(waiting.process_id ?? '', { id: other });
    expect(state).toBe('running');
    expect((await run(other, 'echo there')).out).toBe('there\n');
    await service.kernel.browsers.process.kill(waiting.process_id ?? '', { id: other, signal: 'KILL' });
  });

  it('isolates sessions from each other', async () => {
    await shell('echo mine > /tmp/mine; echo mine > /home/user/mine');
    expect((await run(other, 'ls -A /tmp /home/user; find / -name mine -not -path "/usr/*" 2>/dev/null')).out).toBe(
      '/home/user:\n\n/tmp:\n',
    );
    await shell('ipcmk -M 1000 -p 0666');
    expect((await run(other, 'tail -n +2 /proc/sysvipc/shm')).out).toBe('');
  });

  it('shares files with the file operations in both directions', async () => {
    const { fs } = service.kernel.browsers;
    await fs.createDirectory(id, { path: '/home/user/folder' });
    await fs.writeFile(id, Buffer.from('written'), { path: '/home/user/folder/written.txt' });
    expect((await shell('cat folder/written.txt && echo more >> folder/written.txt && touch folder/made')).out).toBe(
      'written',
    );
    const read = await fs.readFile(id, { path: '/home/user/folder/written.txt' });
    expect(await read.text()).toBe('writtenmore\n');
    await shell('echo root > /root/r; echo root > /home/user/folder/of-root', { as_root: true });
    expect((await shell('cat folder/of-root; rm folder/of-root')).out).toBe('root\n');
    await fs.deleteDirectory(id, { path: '/home/user/folder' });
    expect((await shell('ls -A')).out).not.toContain('folder');
  });

  it('provides a terminal with signals', async () => {
    const { process } = service.kernel.browsers;
    const line = 'test -t 0 && id -u; trap "exit 7" INT; echo ready; while :; do sleep 0.05; done';
    const spawned = await process.spawn(id, { command: 'sh', args: ['-c', line], allocate_tty: true, as_root: true });
    const processId = spawned.process_id ?? '';
    let said = '';
    for await (const event of await process.stdoutStream(processId, { id })) {
      said += Buffer.from(event.data_b64 ?? '', 'base64').toString();
      if (event.event === 'exit') expect(event.exit_code).toBe(7);
      else if (said.endsWith('ready\r\n')) await process.kill(processId, { id, signal: 'INT' });
    }
    expect(said).toBe('0\r\nready\r\n');
  });

  it('leaves nothing behind, whatever its programs did', async () => {
    const session = await service.kernel.browsers.create({ timeout_seconds: 60 });
    const name = (await readdir(path.join(service.workDir, 'sessions'))).length;
    expect(name).toBe(3);
    const deep = 'i=0; while [ $i -lt 600 ]; do mkdir dddddddddd && cd dddddddddd || break; i=$((i+1)); done';
    // Deeper than the longest path that the system takes.
    await run(session.session_id, `cd /tmp; ${deep}`);
    await expect(
      service.kernel.browsers.fs.downloadDirZip(session.session_id, { path: '/tmp' }).then((zip) => zip.arrayBuffer()),
    ).rejects.toThrow();
    await service.kernel.browsers.fs.deleteDirectory(session.session_id, { path: '/tmp/dddddddddd' });
    await run(session.session_id, `cd /tmp; ${deep}`);
    const lines = [
      'mkdir -p /tmp/a/b; echo x > /tmp/a/b/c; chmod 000 /tmp/a/b /tmp/a',
      'mkfifo ~/pipe; ln -s / ~/root',
      'chmod 000 /tmp ~',
    ];
    for (const line of lines) expect((await run(session.session_id, line, { cwd: '/' })).code).toBe(0);
    await service.kernel.browsers.process.spawn(session.session_id, { command: 'sleep', args: ['4712'], cwd: '/' });
    await service.kernel.browsers.deleteByID(session.session_id);
    expect(await readdir(path.join(service.workDir, 'sessions'))).toHaveLength(2);
    expect(await commandLines()).not.toContain('sleep\x004712\0');
  });

  it('ends with a killed service, and the next one cleans up', async () => {
    const dying = await startServiceAsUser({ ordinary });
    const session = await dying.kernel.browsers.create();
    await dying.kernel.browsers.process.spawn(session.session_id, { command: 'setsid', args: ['sleep', '4713'] });
    await dying.kernel.browsers.process.exec(session.session_id, { command: 'chmod', args: ['000', '/tmp'] });
    dying.child.kill('SIGKILL');
    await eventually(async () => {
      const left = await commandLines();
      expect(left).not.toContain('sleep\x004713\0');
      expect(left.filter((line) => line.includes(dying.workDir))).toEqual([]);
    });
    const sessions = path.join(dying.workDir, 'sessions');
    expect(await readdir(sessions)).toHaveLength(1);
    const next = await startServiceAsUser({ ordinary, options: { workDir: dying.workDir } });
    expect(await readdir(dying.workDir)).toEqual([]);
    await next.stop();
    await dying.stop();
  });
});

describe('a machine that forbids user namespaces', () => {
  it('rejects programs with 403, logs it, and serves everything else', async () => {
    const service = await startServiceAsUser({ ordinary: true, namespaces: false, options: { noSandbox: true } });
    try {
      expect(service.logs.join('\n')).toContain('no sandbox available');
      const { session_id: id } = await service.kernel.browsers.create();
      const { process, fs } = service.kernel.browsers;
      const refused = {
        status: 403,
        message: expect.stringContaining('BROWSER_ALLOW_UNSANDBOXED_PROCESSES') as unknown,
      };
      await expect(process.exec(id, { command: 'true' })).rejects.toMatchObject(refused);
      await expect(process.spawn(id, { command: 'true' })).rejects.toMatchObject(refused);
      await expect(process.status('nobody', { id })).rejects.toMatchObject(refused);
      await fs.writeFile(id, Buffer.from('x'), { path: '/tmp/x' });
      expect(await fs.listFiles(id, { path: '/tmp' })).toHaveLength(1);
    } finally {
      await service.stop();
    }
  });
});
