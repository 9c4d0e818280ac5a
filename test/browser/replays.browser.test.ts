import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { chromium } from 'playwright-core';
import { afterAll, describe, expect } from 'vitest';
import { processesWith } from './running-processes.ts';
import type { ServiceUnderTest, Site } from './service-under-test.ts';
import { API_KEY, eventually, startSite } from './service-under-test.ts';
import { it } from './shared-service.ts';

const run = promisify(execFile);

let service: ServiceUnderTest;
let site: Site;

it.beforeAll(async ({ service: shared }) => {
  service = shared;
  site = await startSite({
    '/': '<body style="margin:0;background:#c00">',
    '/blue': '<body style="margin:0;background:#00c">',
  });
});
afterAll(() => {
  site.close();
});

interface Probe {
  streams: { width: number; height: number }[];
  format: { duration: string };
}

/** Size and duration of a video, and the color at the center of its last frame (red, green, blue). */
async function look(video: Buffer): Promise<{ width: number; height: number; seconds: number; last: number[] }> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'holdfast-video-'));
  try {
    const file = path.join(folder, 'video.mp4');
    await writeFile(file, video);
    const probe = await run('ffprobe', ['-v', 'error', '-of', 'json', '-show_streams', '-show_format', file]);
    const { streams, format } = JSON.parse(probe.stdout) as Probe;
    const [stream] = streams;
    if (stream === undefined) throw new Error('no picture');
    const raw = path.join(folder, 'last.rgb');
    await run('ffmpeg', [
      '-v',
      'error',
      '-i',
      file,
      '-vf',
      'reverse,crop=2:2:iw/2:ih*3/4',
      '-frames:v',
      '1',
      '-f',
      'rawvideo',
      '-pix_fmt',
      'rgb24',
      raw,
    ]);
    return {
      width: stream.width,
      height: stream.height,
      seconds: Number(format.duration),
      last: Array.from((await readFile(raw)).subarray(0, 3)),
    };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function isBlue({ last: [red = 0, green = 0, blue = 0] }: { last: number[] }): boolean {
  return red < 60 && green < 60 && blue > 150;
}

describe('replays', () => {
  it.each([true, false])('show the session, and outlive it (headless %s)', async (headless) => {
    const { kernel } = service;
    const session = await kernel.browsers.create({
      headless,
      viewport: { width: 641, height: 480 },
      timeout_seconds: 300,
    });
    const { session_id: id } = session;
    const browser = await chromium.connectOverCDP(session.cdp_ws_url, { noDefaults: true });
    const page = browser.contexts()[0]?.pages()[0];
    await page?.goto(`${site.origin}/`);

    const replay = await kernel.browsers.replays.start(id, { framerate: 10 });
    expect(replay).toMatchObject({ finished_at: null });
    await expect(kernel.browsers.replays.start(id)).rejects.toMatchObject({ status: 422 });
    await expect(kernel.browsers.update(id, { viewport: { width: 700, height: 500 } })).rejects.toMatchObject({
      status: 422,
    });
    const file = path.join(service.workDir, 'replays', `${replay.replay_id}.mp4`);
    await page?.goto(`${site.origin}/blue`);
    // The video is playable while it is being recorded.
    await eventually(async () => expect(isBlue(await look(await readFile(file)))).toBe(true));
    await kernel.browsers.replays.stop(replay.replay_id, { id });
    await kernel.browsers.replays.stop(replay.replay_id, { id });

    const [listed, ...others] = await kernel.browsers.replays.list(id);
    expect([listed?.replay_id, others]).toEqual([replay.replay_id, []]);
    expect(listed?.finished_at).not.toBeNull();
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect((await stat(path.dirname(file))).mode & 0o777).toBe(0o700);

    await browser.close();
    await kernel.browsers.deleteByID(id);
    const answer = await kernel.browsers.replays.download(replay.replay_id, { id });
    expect(answer.headers.get('content-type')).toBe('video/mp4');
    const seen = await look(Buffer.from(await answer.arrayBuffer()));
    expect(seen.width % 2).toBe(0);
    expect(seen.seconds).toBeGreaterThan(0.5);
    expect(isBlue(seen)).toBe(true);

    // The link works without the API key, but not for another replay or without its token.
    const url = listed?.replay_view_url ?? '';
    expect((await fetch(url)).status).toBe(200);
    expect((await fetch(url.split('?')[0] ?? '')).status).toBe(401);
    expect((await fetch(url.replace(replay.replay_id, 'rep_0'))).status).toBe(401);
    const elsewhere = { headers: { authorization: `Bearer ${API_KEY}`, 'x-kernel-project-id': 'prj_other' } };
    expect((await fetch(`${service.handle.url}/browsers/${id}/replays/${replay.replay_id}`, elsewhere)).status).toBe(
      404,
    );
  });

  it('end with their session, and leave no recorder behind', async () => {
    const { kernel } = service;
    for (const headless of [true, false]) {
      const { session_id: id } = await kernel.browsers.create({ headless, viewport: { width: 320, height: 240 } });
      const replay = await kernel.browsers.replays.start(id, { max_duration_in_seconds: 60 });
      await kernel.browsers.deleteByID(id);
      const [listed] = await kernel.browsers.replays.list(id);
      expect([listed?.replay_id, listed?.finished_at === null]).toEqual([replay.replay_id, false]);
    }
    const started = await processesWith(service.workDir);
    expect(started.filter(({ commandLine }) => commandLine.startsWith('ffmpeg'))).toEqual([]);
  });

  it('reject what cannot be recorded', async () => {
    const { kernel } = service;
    const { session_id: id } = await kernel.browsers.create();
    await expect(kernel.browsers.replays.start(id, { record_audio: true })).rejects.toMatchObject({ status: 400 });
    await expect(kernel.browsers.replays.start(id, { framerate: 60 })).rejects.toMatchObject({ status: 400 });
    await expect(kernel.browsers.replays.download('rep_none', { id })).rejects.toMatchObject({ status: 404 });
    await expect(kernel.browsers.replays.download('../x', { id })).rejects.toMatchObject({ status: 404 });
    await expect(kernel.browsers.replays.list('brw_none')).rejects.toMatchObject({ status: 404 });
    await kernel.browsers.deleteByID(id);
  });
});
