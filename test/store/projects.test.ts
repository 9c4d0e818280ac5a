import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import type { ConnectionDocument } from '../../contract/document.ts';
import { HoldfastError } from '../../contract/errors.ts';
import type { ProjectScope } from '../../store/scope.ts';
import type { Store } from '../../store/store.ts';

import { documentOf, SCOPE, useStore } from './databases.ts';

const context = useStore();
const { organizationId } = SCOPE;

/** Inserts a connection of a project; false when the project was not active any more. */
function insert(projectId: string): Promise<boolean> {
  const id = `conn_of_${projectId}`;
  const document: ConnectionDocument = { ...documentOf(id, 1), project_id: projectId };
  const row = { id, organizationId, projectId, profileName: 'p', domain: 'a.example', document, revision: 1 };
  return context()
    .store.connections.insert({ ...row, createdAt: new Date() })
    .then(
      () => true,
      (error: unknown) => {
        expect(error).toMatchObject({ code: 'not_found' });
        return false;
      },
    );
}

/** False when it could not be archived. */
function archive(projectId: string): Promise<boolean> {
  return context()
    .store.projects.update(organizationId, projectId, { isArchived: true })
    .then(
      () => true,
      (error: unknown) => {
        expect(error).toMatchObject({ code: 'operation_failed' });
        return false;
      },
    );
}

it('that is archived or deleted gets no connection, not even one being created', async () => {
  const { store } = context();
  const make = () => store.projects.create(organizationId, { name: `short ${randomUUID()}` });
  const [archived, deleted] = [await make(), await make()];
  await archive(archived.id);
  await store.projects.remove(organizationId, deleted.id);
  expect(await insert(archived.id)).toBe(false);
  expect(await insert(deleted.id)).toBe(false);
  expect((await store.projects.filterInactive([archived.id, deleted.id, SCOPE.projectId, 'none'])).toSorted()).toEqual(
    [archived.id, deleted.id].toSorted(),
  );
  const together = await Promise.all(
    Array.from({ length: 20 }, async () => {
      const { id } = await make();
      return Promise.all([insert(id), archive(id)]);
    }),
  );
  for (const [isIn, isArchived] of together) expect(isIn).toBe(!isArchived);
});

/** Makes one of each kind of thing that a project can hold beside connections. */
const MADE: Record<string, (store: Store, scope: ProjectScope) => Promise<unknown>> = {
  profile: (store, scope) => store.profiles.create(scope, { name: 'p' }),
  'profile of a login': (store, scope) => store.profiles.findOrCreate(scope, 'p'),
  credential: (store, scope) =>
    store.credentials.create(scope, { name: 'c', domain: 'a.example', values: { username: 'u' } }),
  proxy: (store, scope) =>
    store.proxies.create(scope, {
      name: null,
      protocol: 'http',
      host: 'proxy.example',
      port: 3128,
      username: null,
      password: 'secret',
      bypassHosts: [],
    }),
  extension: (store, scope) => store.extensions.create(scope, { name: null, archive: Buffer.from('PK') }),
  deployment: (store, scope) =>
    store.deployments.create(scope, {
      entrypoint: 'main.mjs',
      envVars: {},
      version: 'latest',
      force: false,
      archive: Buffer.from('PK'),
    }),
  webhook: (store, scope) =>
    store.webhooks.create(scope, {
      url: 'https://a.example/hook',
      description: '',
      events: ['connection.authenticated'],
    }),
  'code source': (store, scope) => store.codeSources.create(scope, { type: 'mailgun', secret: 'key' }),
};

it.each(Object.entries(MADE))('that is deleted keeps no %s that was being created', async (_, make) => {
  const { store } = context();
  const settled = (work: Promise<unknown>): Promise<string> =>
    work.then(
      () => 'done',
      (error: unknown) => (error instanceof HoldfastError ? error.code : String(error)),
    );
  const together = await Promise.all(
    Array.from({ length: 20 }, async () => {
      const { id } = await store.projects.create(organizationId, { name: `short ${randomUUID()}` });
      const scope = { organizationId, projectId: id };
      return Promise.all([settled(make(store, scope)), settled(store.projects.remove(organizationId, id))]);
    }),
  );
  for (const both of together)
    expect([
      ['done', 'operation_failed'],
      ['not_found', 'done'],
    ]).toContainEqual(both);
});
