import { expect, it } from 'vitest';
import { eventually, startService } from './service-under-test.ts';

it('ends the sessions of an archived project, and no others', async () => {
  const closed = new Set<string>();
  const service = await startService({
    closedProjects: async (ids) => ids.filter((id) => closed.has(id)),
    closedProjectsEveryMs: 20,
  });
  try {
    const client = (project: string) =>
      service.kernel.withOptions({ defaultHeaders: { 'X-Kernel-Project-Id': project } });
    const [going, staying] = [client('prj_going'), client('prj_staying')];
    const { session_id } = await going.browsers.create({ headless: true });
    const { session_id: stays } = await staying.browsers.create({ headless: true });
    closed.add('prj_going');
    await eventually(() => expect(going.browsers.retrieve(session_id)).rejects.toMatchObject({ status: 404 }));
    expect(await staying.browsers.retrieve(stays)).toMatchObject({ session_id: stays });
  } finally {
    await service.stop();
  }
});
