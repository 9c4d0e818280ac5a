import Kernel from '@onkernel/sdk';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { onePasswordAnswers } from '../credential-providers/connect-stand-in.ts';
import { startStandIn, TOKEN, type StandIn } from '../credential-providers/stand-ins.ts';
import { API_KEY, useService } from './service-fixture.ts';

const fixture = useService();
const PATH = '/org/credential_providers';
let stand: StandIn;
let kernel: Kernel;
beforeAll(async () => {
  stand = await startStandIn(onePasswordAnswers);
  kernel = new Kernel({ apiKey: API_KEY, baseURL: await fixture().app.listen({ port: 0 }), maxRetries: 0 });
});
afterAll(() => stand.close());

describe('credential providers with the public client', () => {
  it('are created, read, listed, renamed and deleted, and never show their token', async () => {
    const made = await kernel.credentialProviders.create({
      name: 'Team 1P',
      provider_type: 'onepassword',
      token: TOKEN,
    });
    expect(made).toMatchObject({ name: 'Team 1P', provider_type: 'onepassword', enabled: true, priority: 0 });
    expect(await kernel.credentialProviders.retrieve(made.id)).toEqual(made);
    const listed = await kernel.credentialProviders.list({ query: 'team' });
    expect(listed.getPaginatedItems()).toEqual([made]);
    const changed = await kernel.credentialProviders.update(made.id, { name: 'Ours', enabled: false, priority: 3 });
    expect(changed).toMatchObject({ id: made.id, name: 'Ours', enabled: false, priority: 3 });
    expect(JSON.stringify([made, listed.items, changed])).not.toContain('nobody-may-see');
    await kernel.credentialProviders.delete(made.id);
    await expect(kernel.credentialProviders.retrieve(made.id)).rejects.toMatchObject({ status: 404 });
    await expect(kernel.credentialProviders.delete(made.id)).rejects.toMatchObject({ status: 404 });
  });

  it('report the missing address when tested', async () => {
    const { id } = await kernel.credentialProviders.create({
      name: 'bare',
      provider_type: 'onepassword',
      token: TOKEN,
    });
    const tried = await kernel.credentialProviders.test(id);
    expect(tried).toMatchObject({ success: false, vaults: [] });
    expect(tried.error).toContain('set `address`');
    await expect(kernel.credentialProviders.listItems(id)).rejects.toMatchObject({ status: 422 });
  });
});

describe('a credential provider', () => {
  const body = (change: object = {}) => ({ name: 'n', provider_type: 'vault', token: TOKEN, ...change });

  it.each([
    ['provider_type', { provider_type: 'lastpass' }],
    ['token', { token: '' }],
    ['name', { name: 'a/b' }],
    ['address', { address: 'http://10.0.0.1:8200' }],
    ['address', { address: 'http://vault.example' }],
    ['cache_ttl_seconds', { cache_ttl_seconds: -1 }],
    ['region', { region: 'evil.example/' }],
  ])('with a wrong %s is refused, and nothing is made', async (field, change) => {
    const { call } = fixture();
    const answer = await call('POST', PATH, body(change));
    expect(answer.statusCode).toBe(400);
    expect(answer.body).toContain(field);
    expect((await call('GET', `${PATH}?query=${field}`)).json()).toEqual([]);
  });

  it('has a unique name in its organization', async () => {
    const { call } = fixture();
    expect((await call('POST', PATH, body({ name: 'twice' }))).statusCode).toBe(201);
    const second = await call('POST', PATH, body({ name: 'twice' }));
    expect([second.statusCode, second.json<{ code: string }>().code]).toEqual([409, 'already_exists']);
    const other = (await call('POST', PATH, body({ name: 'once' }))).json<{ id: string }>();
    expect((await call('PATCH', `${PATH}/${other.id}`, { name: 'twice' })).statusCode).toBe(409);
  });

  it("is organization-wide: a project's key can neither create nor read it", async () => {
    const { call, store } = fixture();
    const made = (await call('POST', PATH, body({ name: 'organization' }))).json<{ id: string }>();
    const project = await store.projects.create('org_default', { id: 'prj_other', name: 'Other' });
    expect(project).toBeDefined();
    const key = await call('POST', '/org/api_keys', { name: 'scoped', project_id: 'prj_other' });
    const scoped = { authorization: `Bearer ${key.json<{ key: string }>().key}` };
    expect((await call('POST', PATH, body({ name: 'x' }), scoped)).statusCode).toBe(403);
    expect((await call('GET', `${PATH}/${made.id}/items`, null, scoped)).statusCode).toBe(403);
    expect((await call('DELETE', `${PATH}/${made.id}`, null, scoped)).statusCode).toBe(403);
  });

  it('keeps its token sealed', async () => {
    const { call, store } = fixture();
    const made = (await call('POST', PATH, body({ name: 'sealed' }))).json<{ id: string }>();
    expect((await store.credentialProviders.open('org_default', made.id))?.token).toBe(TOKEN);
    expect(await store.credentialProviders.open('org_other', made.id)).toBeNull();
    expect(JSON.stringify(await store.credentialProviders.find('org_default', made.id))).not.toContain('nobody-may');
  });
});
