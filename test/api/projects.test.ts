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
  it('that is archived answers nothing, until it is active again', async () => {
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

  it('is neither archived while it logs in by itself, nor deleted while it holds anything', async () => {
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

  it('of requests that name none stays, and a key of one project changes none', async () => {
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
});
