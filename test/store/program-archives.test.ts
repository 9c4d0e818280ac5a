import { expect, it } from 'vitest';
import pg from 'pg';
import type { Store } from '../../store/store.ts';
import { runOnce, SCOPE, useStore } from './databases.ts';

const context = useStore();
const ARCHIVE = Buffer.from('PK: a program, and what was left in it by accident');

async function deploy(store: Store): Promise<string> {
  const common = { entrypoint: 'index.mjs', envVars: { TOKEN: 'its own' }, version: 'latest', force: false };
  return (await store.deployments.create(SCOPE, { ...common, archive: ARCHIVE })).id;
}

/** Both columns of a row as they are stored. */
async function stored(id: string): Promise<{ archive: Buffer | null; sealed_archive: Buffer | null }> {
  const client = new pg.Client({ connectionString: context().database.connection.url });
  await client.connect();
  try {
    const { rows } = await client.query<{ archive: Buffer | null; sealed_archive: Buffer | null }>(
      'select archive, sealed_archive from deployments where id = $1',
      [id],
    );
    return rows[0] ?? { archive: null, sealed_archive: null };
  } finally {
    await client.end();
  }
}

it('are sealed, including those of older versions, and resealed under a new key', async () => {
  const { store, open, database } = context();
  const [sealed, former] = [await deploy(store), await deploy(store)];
  await runOnce(
    database.connection,
    `update deployments set sealed_archive = null, archive = '\\x${ARCHIVE.toString('hex')}' where id = '${former}'`,
  );
  expect(await store.deployments.archive(former)).toEqual(ARCHIVE);
  await store.sweep();
  for (const id of [sealed, former]) {
    const row = await stored(id);
    expect(row.archive).toBeNull();
    expect(row.sealed_archive?.includes('PK')).toBe(false);
    expect(await store.deployments.archive(id)).toEqual(ARCHIVE);
  }
  await store.rotateOrganizationKey(SCOPE.organizationId);
  const later = open({ clock: () => new Date(Date.now() + 61_000) });
  expect(await later.rotateOrganizationKey(SCOPE.organizationId)).toMatchObject({ broken: [], finished: true });
  for (const id of [sealed, former]) expect(await open().deployments.archive(id)).toEqual(ARCHIVE);
});

it('are deleted with their variables once nothing refers to them', async () => {
  const { store, open } = context();
  const build = async (app: string): Promise<string> => {
    const id = await deploy(store);
    await store.deployments.begin(id);
    await store.deployments.finish(id, [{ name: app, actions: [{ name: 'run' }] }]);
    return id;
  };
  const [running, stopped, invoked, failed] = [
    await build('running'),
    await build('stopped'),
    await build('invoked'),
    await deploy(store),
  ];
  const wanted = { version: 'latest', actionName: 'run', payload: null, retries: 0, timeoutSeconds: 3600 };
  const invocation = await store.invocations.create(SCOPE, { ...wanted, appName: 'invoked' });
  await store.deployments.end(stopped, 'stopped', null);
  await store.deployments.end(invoked, 'stopped', null);
  await store.deployments.end(failed, 'failed', 'for no reason');
  const kept = async (): Promise<string[]> => {
    const all = [running, stopped, invoked, failed];
    const has = await Promise.all(all.map((id) => store.deployments.archive(id)));
    return all.filter((_, index) => has[index] !== null);
  };
  const later = open({ clock: () => new Date(Date.now() + 61 * 60_000) });
  await store.sweep();
  expect(await kept()).toEqual([running, stopped, invoked, failed]);
  await later.sweep();
  expect(await kept()).toEqual([running, invoked]);
  expect(await store.deployments.source(stopped)).toBeNull();
  expect(await store.deployments.find(SCOPE, stopped)).toMatchObject({ status: 'stopped', envNames: ['TOKEN'] });
  await store.invocations.end(invocation.id, 'succeeded', {});
  await later.sweep();
  expect(await kept()).toEqual([running]);
  expect((await store.deployments.source(running))?.envVars).toEqual({ TOKEN: 'its own' });
});
