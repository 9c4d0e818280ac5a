import type Kernel from '@onkernel/sdk';
import { beforeAll, describe, expect, it } from 'vitest';
import { useListeningService, useService } from './service-fixture.ts';

const fixture = useService();
const service = useListeningService(fixture);
let kernel: Kernel;
beforeAll(() => {
  kernel = service.client();
});

/** The client of who works in one project by its header, and of who has a key of it alone. */
async function workersIn(projectId: string): Promise<{ byHeader: Kernel; byKey: Kernel }> {
  const { key } = await kernel.apiKeys.create({ name: 'of it', project_id: projectId });
  const byHeader = service.client({ defaultHeaders: { 'X-Kernel-Project-Id': projectId } });
  return { byHeader, byKey: service.client({ apiKey: key }) };
}

describe('a project', () => {
  it('is not accessible while archived', async () => {
    const { id } = await kernel.projects.create({ name: 'for a season' });
    const { byHeader, byKey } = await workersIn(id);
    await byKey.profiles.create({ name: 'stays' });
    expect(await kernel.projects.update('for a season', { status: 'archived' })).toMatchObject({ status: 'archived' });
    for (const worker of [byHeader, byKey])
      await expect(worker.profiles.list()).rejects.toMatchObject({
        status: 404,
        message: expect.stringContaining('The project is archived') as unknown,
      });
    expect(await kernel.projects.retrieve(id)).toMatchObject({ status: 'archived', name: 'for a season' });
    expect((await kernel.projects.list({ name: 'for a season' })).items).toMatchObject([{ id, status: 'archived' }]);
    expect(await kernel.projects.update(id, { name: 'renamed' })).toMatchObject({ id, status: 'archived' });
    expect(await kernel.projects.update(id, { status: 'active' })).toMatchObject({ status: 'active', name: 'renamed' });
    expect((await byKey.profiles.list()).items).toMatchObject([{ name: 'stays' }]);
  });

  it('cannot be archived while it logs in unattended, nor deleted unless empty', async () => {
    const { id } = await kernel.projects.create({ name: 'at work' });
    const { byHeader, byKey } = await workersIn(id);
    await byHeader.profiles.create({ name: 'p' });
    const { id: connection } = await byHeader.auth.connections.create({ profile_name: 'p', domain: 'at.example' });
    const refused = (words: string) => ({ status: 422, message: expect.stringContaining(words) as unknown });
    await expect(kernel.projects.update(id, { status: 'archived' })).rejects.toMatchObject(
      refused('still has connections; '),
    );
    await expect(kernel.projects.delete(id)).rejects.toMatchObject(refused('still has connections, profiles; '));
    expect((await byKey.auth.connections.list()).items).toHaveLength(1);

    await byHeader.auth.connections.delete(connection);
    await expect(kernel.projects.delete(id)).rejects.toMatchObject(refused('still has profiles; '));
    await byHeader.profiles.delete('p');
    await kernel.projects.delete(id);
    await expect(kernel.projects.retrieve(id)).rejects.toMatchObject({ status: 404 });
    await expect(kernel.projects.delete(id)).rejects.toMatchObject({ status: 404 });
    await expect(byHeader.profiles.list()).rejects.toMatchObject({ status: 404 });
    await expect(byKey.profiles.list()).rejects.toMatchObject({ status: 401 });
    expect((await kernel.projects.list({ name: 'at work' })).items).toEqual([]);
  });

  it("cannot be deleted if it is the default, nor changed by a project's key", async () => {
    const { projects } = kernel;
    for (const change of [
      () => projects.update('prj_default', { status: 'archived' }),
      () => projects.delete('prj_default'),
    ])
      await expect(change()).rejects.toMatchObject({
        status: 422,
        message: expect.stringContaining('default project') as unknown,
      });
    const { id } = await kernel.projects.create({ name: 'own' });
    const { byKey } = await workersIn(id);
    await expect(byKey.projects.update(id, { name: 'mine' })).rejects.toMatchObject({ status: 403 });
    await expect(byKey.projects.delete(id)).rejects.toMatchObject({ status: 403 });
  });

  it('has a unique name, even under concurrent creation', async () => {
    const { projects } = kernel;
    const taken = { status: 409, error: expect.objectContaining({ code: 'already_exists' }) as unknown };
    const asked = await Promise.allSettled(Array.from({ length: 5 }, () => projects.create({ name: 'only one' })));
    expect(asked.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    for (const one of asked) if (one.status === 'rejected') expect(one.reason).toMatchObject(taken);

    const { id } = await projects.create({ name: 'another' });
    await expect(projects.update(id, { name: 'only one' })).rejects.toMatchObject(taken);
    expect(await projects.update(id, { name: 'another' })).toMatchObject({ id, name: 'another' });
    await projects.delete('only one');
    expect(await projects.update(id, { name: 'only one' })).toMatchObject({ id, name: 'only one' });
    expect(await projects.retrieve('only one')).toMatchObject({ id });
  });

  it.each([
    ['UTF-8', 'utf8'],
    ['Latin-1', 'latin1'],
  ] as const)('is found by a header with its name in %s', async (_name, encoding) => {
    const name = `Größe/Süd ${encoding}`;
    const { id } = await kernel.projects.create({ name });
    // A header's text goes out byte by byte.
    const header = Buffer.from(name, encoding).toString('latin1');
    const context = await service.client({ defaultHeaders: { 'X-Kernel-Project': header } }).get('/auth/context');
    expect(context).toMatchObject({ authorization: { effective_scope: { project_id: id } } });
  });
});
