import type Kernel from '@onkernel/sdk';
import { beforeAll, describe, expect, it } from 'vitest';
import { API_KEY, useListeningService, useService } from './service-fixture.ts';

const fixture = useService();
const service = useListeningService(fixture);
let kernel: Kernel;
beforeAll(() => {
  kernel = service.client();
});

const PLAIN = { path: '/', httpOnly: true, secure: true };
const STATE = {
  cookies: [
    { ...PLAIN, name: 'sid', value: 'geheim', domain: '.a.test', expires: 4_000_000_000, sameSite: 'Strict' as const },
    {
      ...PLAIN,
      name: 'part',
      value: 'ü',
      domain: 'b.test',
      partitionKey: { topLevelSite: 'https://a.test', hasCrossSiteAncestor: false },
    },
  ],
  origins: [
    {
      origin: 'https://a.test',
      localStorage: { token: 'x'.repeat(300_000) },
      sessionStorage: { tab: '1' },
      indexedDB: [{ name: 'db', version: 2, stores: [] }],
    },
  ],
};

async function makeProfile(name: string, state: unknown = null) {
  const profile = await kernel.profiles.create({ name });
  if (state !== null) await fixture().store.profiles.save('prj_default', profile.id, () => state);
  return profile;
}

const stateOf = async (id: string) => (await fixture().store.profiles.load('prj_default', { id }))?.state;

const upload = (name: string, body: BodyInit, headers: Record<string, string> = {}) =>
  fetch(`${service.url()}/profiles/${name}/upload`, {
    method: 'POST',
    body,
    headers: { authorization: `Bearer ${API_KEY}`, ...headers },
  });

describe('the state of a profile', () => {
  it.for([undefined, 'tar.zst', 'tar'] as const)('can be copied from one profile to another (%s)', async (format) => {
    const name = `from-${String(format)}`;
    await makeProfile(name, STATE);
    const into = await makeProfile(`to-${String(format)}`);
    const answer = await kernel.profiles.download(name, format === undefined ? {} : { format });
    expect(answer.headers.get('content-disposition')).toMatch(format === 'tar' ? /\.tar"$/ : /\.tar\.zst"$/);
    const archive = await answer.arrayBuffer();
    const uploaded = await upload(into.name ?? '', archive);
    expect([uploaded.status, await uploaded.json()]).toEqual([200, expect.objectContaining({ id: into.id })]);
    expect(await stateOf(into.id)).toEqual(STATE);
  });

  it('can be exported as Playwright’s storageState, without what that does not support', async () => {
    await makeProfile('playwright', STATE);
    const { id } = await makeProfile('from-playwright', STATE);
    const headers = { authorization: `Bearer ${API_KEY}` };
    const answer = await fetch(`${service.url()}/profiles/playwright/download?format=storage_state`, { headers });
    const storage: unknown = await answer.json();
    expect(storage).toEqual({
      cookies: [
        { ...PLAIN, name: 'sid', value: 'geheim', domain: '.a.test', expires: 4_000_000_000, sameSite: 'Strict' },
        {
          ...{ ...PLAIN, name: 'part', value: 'ü', domain: 'b.test', expires: -1, sameSite: 'Lax' },
          ...{ partitionKey: 'https://a.test', _crHasCrossSiteAncestor: false },
        },
      ],
      origins: [{ origin: 'https://a.test', localStorage: [{ name: 'token', value: 'x'.repeat(300_000) }] }],
    });
    expect(
      (await upload('from-playwright', JSON.stringify(storage), { 'content-type': 'application/json' })).status,
    ).toBe(200);
    const [cookie, part] = STATE.cookies;
    expect(await stateOf(id)).toEqual({
      cookies: [cookie, { ...part, sameSite: 'Lax' }],
      origins: [{ ...STATE.origins[0], sessionStorage: {}, indexedDB: [] }],
    });
  });

  it('is empty before the first save', async () => {
    const { id } = await makeProfile('new');
    expect((await upload('new', await (await kernel.profiles.download('new')).arrayBuffer())).status).toBe(200);
    expect(await stateOf(id)).toEqual({ cookies: [], origins: [] });
  });

  it.for([
    ['nothing of the kind', 'storageState'],
    ['{}', 'storageState'],
    ['\0'.repeat(2048), 'storageState'],
    [Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x04, 0, 0]), 'zstd -d'],
    [JSON.stringify({ cookies: [], origins: [{ origin: 'file:///etc', localStorage: [] }] }), 'origins'],
  ] as const)('is not replaced by %j', async ([body, message]) => {
    const profile = await kernel.profiles.list({ name: 'kept' });
    const { id } = profile.items[0] ?? (await makeProfile('kept', STATE));
    const answer = await upload('kept', typeof body === 'string' ? body : new Uint8Array(body));
    expect([answer.status, JSON.stringify(await answer.json())]).toEqual([400, expect.stringContaining(message)]);
    expect(await stateOf(id)).toEqual(STATE);
  });

  it('is for organization-wide keys only, and each read is audited', async () => {
    await makeProfile('guarded', STATE);
    const { key } = await kernel.apiKeys.create({ name: 'bound', project_id: 'prj_default' });
    const bound = service.client({ apiKey: key });
    await expect(bound.profiles.download('guarded')).rejects.toMatchObject({ status: 403 });
    expect((await upload('guarded', '{}', { authorization: `Bearer ${key}` })).status).toBe(403);
    expect(await bound.profiles.retrieve('guarded')).toMatchObject({ name: 'guarded' });
    await kernel.profiles.download('guarded');
    await upload('guarded', '{"cookies":[],"origins":[]}');
    const { rows } = await fixture().store.auditLog.page(
      { organizationId: 'org_default', projectId: null },
      { limit: 100 },
    );
    const told = rows.filter(({ path }) => path.startsWith('/profiles/guarded/'));
    expect(told.map(({ method, path, status }) => `${method} ${path} ${String(status)}`).toReversed()).toEqual([
      'GET /profiles/guarded/download 403',
      'POST /profiles/guarded/upload 403',
      'GET /profiles/guarded/download 200',
      'POST /profiles/guarded/upload 200',
    ]);
  });
});
