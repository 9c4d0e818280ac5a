import { execFile } from 'node:child_process';
import { readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { chromium } from 'playwright-core';
import { describe, expect } from 'vitest';
import type { ServiceUnderTest } from './service-under-test.ts';
import { eventually } from './service-under-test.ts';
import { it } from './shared-service.ts';

let service: ServiceUnderTest;
/** Two sessions with a window, and a headless one. */
let first: string;
let second: string;
let headless: string;

it.beforeAll(async ({ service: shared }) => {
  service = shared;
  const create = async (isHeadless: boolean): Promise<string> =>
    (
      await service.kernel.browsers.create({
        headless: isHeadless,
        viewport: { width: 640, height: 480 },
        timeout_seconds: 600,
      })
    ).session_id;
  first = await create(false);
  second = await create(false);
  headless = await create(true);
});

type ExecOptions = Partial<Parameters<typeof service.kernel.browsers.process.exec>[1]>;

async function shell(
  id: string,
  line: string,
  more: ExecOptions = {},
): Promise<{ code: number | undefined; out: string }> {
  const answer = await service.kernel.browsers.process.exec(id, { command: 'sh', args: ['-c', line], ...more });
  const text = (data: string | undefined): string => Buffer.from(data ?? '', 'base64').toString();
  return { code: answer.exit_code, out: `${text(answer.stdout_b64)}${text(answer.stderr_b64)}` };
}

async function displayOf(id: string): Promise<string> {
  return (await shell(id, 'printf %s "$DISPLAY"')).out;
}

describe('the display of a session', () => {
  it('can be recorded by a sandboxed program into a playable video', async () => {
    const { process, fs } = service.kernel.browsers;
    const line =
      'exec ffmpeg -y -f x11grab -framerate 10 -i "$DISPLAY" -pix_fmt yuv420p -progress pipe:1 /tmp/replay.mp4';
    const spawned = await process.spawn(first, { command: 'sh', args: ['-c', line] });
    const processId = spawned.process_id ?? '';
    let said = '';
    for await (const event of await process.stdoutStream(processId, { id: first })) {
      if (event.event === 'exit') throw new Error(`ffmpeg ended: ${said}`);
      said += Buffer.from(event.data_b64 ?? '', 'base64').toString();
      if (/^frame=[1-9]\d/m.test(said)) break;
    }
    await process.kill(processId, { id: first, signal: 'INT' });
    await eventually(async () => expect((await process.status(processId, { id: first })).state).toBe('exited'));
    const video = await fs.readFile(first, { path: '/tmp/replay.mp4' });
    const file = path.join(service.workDir, 'replay.mp4');
    await writeFile(file, Buffer.from(await video.arrayBuffer()));
    const probe = [
      '-v',
      'error',
      '-count_frames',
      '-show_entries',
      'stream=codec_name,width,height,nb_read_frames',
      '-of',
    ];
    const { stdout, stderr } = await promisify(execFile)('ffprobe', [...probe, 'json', file]);
    expect(stderr).toBe('');
    const [stream] = (JSON.parse(stdout) as { streams: Record<string, unknown>[] }).streams;
    expect(stream).toMatchObject({ codec_name: 'h264' });
    expect(Number(stream?.['nb_read_frames'])).toBeGreaterThanOrEqual(10);
  });

  it('takes input from a sandboxed program, even as root', async () => {
    const { cdp_ws_url: url } = await service.kernel.browsers.retrieve(first);
    const browser = await chromium.connectOverCDP(url, { noDefaults: true });
    const page = browser.contexts()[0]?.pages()[0];
    await page?.setContent('<textarea id=a style="position:fixed;inset:0;width:100%;height:100%"></textarea>');
    expect(await shell(first, 'xdotool mousemove 300 500 click 1 type --delay 30 hello')).toEqual({ code: 0, out: '' });
    await expect.poll(() => page?.inputValue('#a')).toBe('hello');
    expect((await shell(first, 'xdotool getdisplaygeometry', { as_root: true })).code).toBe(0);
    await browser.close();
  });

  it('can be overridden by the caller’s DISPLAY', async () => {
    expect((await shell(first, 'echo "$DISPLAY"', { env: { DISPLAY: ':4711' } })).out).toBe(':4711\n');
  });

  it('can be reached again after a program has emptied its folder', async () => {
    expect((await shell(first, 'rm -rf /tmp/.X11-unix; ln -s /etc/passwd /tmp/.X11-unix')).code).toBe(0);
    expect((await shell(first, 'rm /tmp/.X11-unix; xdotool getdisplaygeometry')).code).toBe(1);
    expect((await shell(first, 'xdotool getdisplaygeometry')).code).toBe(0);
  });

  it('is the only display its programs can reach', async () => {
    const [mine, other] = [await displayOf(first), await displayOf(second)];
    expect(mine).toMatch(/^:\d+$/);
    expect(other).not.toBe(mine);
    expect((await shell(second, 'xdotool getdisplaygeometry')).code).toBe(0);
    const socket = `/tmp/.X11-unix/X${other.slice(1)}`;
    expect(await readdir('/tmp/.X11-unix')).toContain(path.basename(socket));
    expect((await shell(first, 'ls /tmp/.X11-unix')).out).toBe(`X${mine.slice(1)}\n`);
    for (const display of [other, `unix${other}`, `unix:${socket}`, `localhost${other}`]) {
      expect((await shell(first, 'xdotool getdisplaygeometry', { env: { DISPLAY: display } })).code).toBe(1);
    }
  });

  it('does not exist without a window', async () => {
    expect((await shell(headless, 'env; ls -A /tmp /run/holdfast')).out).not.toMatch(/DISPLAY|X11|display/);
  });

  it('does not listen on the network', async () => {
    expect((await shell(first, 'cat /proc/net/dev | tail -n +3 | cut -d: -f1 | tr -d " "')).out).toBe('lo\n');
  });
});
