import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { MANAGED_AUTH_HEADER } from '../../contract/browsers.ts';
import type { ServiceUnderTest } from './service-under-test.ts';
import { startService } from './service-under-test.ts';

let service: ServiceUnderTest;
let folder: string | undefined;

afterEach(async () => {
  await service.stop();
  if (folder !== undefined) await rm(folder, { recursive: true });
  folder = undefined;
});

/** Restricts PATH to a folder without Xvfb, or with one that cannot run. */
async function withoutDisplays(xvfb: 'absent' | 'broken'): Promise<void> {
  folder = await mkdtemp(path.join(os.tmpdir(), 'holdfast-programs-'));
  if (xvfb === 'broken') {
    await writeFile(path.join(folder, 'Xvfb'), '#!/bin/sh\nexit 1\n');
    await chmod(path.join(folder, 'Xvfb'), 0o755);
  }
  vi.stubEnv('PATH', folder);
}

describe('a session without a headless option', () => {
  it('has a window if the service supports it, and is not stealthy', async () => {
    service = await startService({ windows: 'default' });
    const session = await service.kernel.browsers.create();
    expect(session).toMatchObject({ headless: false, stealth: false });
    expect(session.browser_live_view_url).toContain('/live?jwt=');
    const { stdout_b64: said = '' } = await service.kernel.browsers.process.exec(session.session_id, {
      command: 'printenv',
      args: ['DISPLAY'],
    });
    expect(Buffer.from(said, 'base64').toString()).toMatch(/^:\d+\n$/);
  });

  it.each(['absent', 'broken'] as const)('runs headless if Xvfb is %s, and says so', async (xvfb) => {
    await withoutDisplays(xvfb);
    service = await startService({ windows: 'default' });
    const session = await service.kernel.browsers.create();
    expect(session).toMatchObject({ headless: true, stealth: false });
    expect(session.browser_live_view_url).toContain('/live?jwt=');
    expect((await service.kernel.browsers.retrieve(session.session_id)).headless).toBe(true);

    const message = xvfb === 'absent' ? /apt-get install xvfb/ : /Xvfb/;
    await expect(service.kernel.browsers.create({ headless: false })).rejects.toMatchObject({
      status: 422,
      message: expect.stringMatching(message) as string,
    });
    const { items } = await service.kernel.browsers.list();
    expect(items).toHaveLength(1);
  });

  it('runs headless if the operator configures that', async () => {
    service = await startService({ windows: 'on-request' });
    expect(await service.kernel.browsers.create()).toMatchObject({ headless: true });
    expect(await service.kernel.browsers.create({ headless: false })).toMatchObject({ headless: false });
  });
});

describe('a login session', () => {
  it('has no live view if headless', async () => {
    service = await startService({ windows: 'default' });
    const login = await service.kernel.browsers.create(
      { headless: true, stealth: true },
      { headers: { [MANAGED_AUTH_HEADER]: 'true' } },
    );
    expect(login).toMatchObject({ headless: true, stealth: true });
    expect(login.browser_live_view_url).toBeUndefined();
  });
});
