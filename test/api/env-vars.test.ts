import { expect, it, vi } from 'vitest';
import { signedIn } from './console-browser.ts';
import { useService } from './service-fixture.ts';

const fixture = useService();

it('shows the environment of a program to operators in the console, and only its names to others', async () => {
  const { store, call } = fixture();
  const { id: projectId } = await store.projects.defaultOf('org_default');
  const envVars = { TOKEN: 'of the program', EMPTY: '' };
  const program = { entrypoint: 'index.mjs', version: 'latest', force: false, archive: Buffer.of(1), envVars };
  const { id } = await store.deployments.create({ organizationId: 'org_default', projectId }, program);
  await store.deployments.begin(id);
  await store.deployments.finish(id, [{ name: 'reader', actions: [{ name: 'run' }] }]);
  const operator = await signedIn(fixture(), { email: 'op@env.example', role: 'operator' });
  const viewer = await signedIn(fixture(), { email: 'view@env.example', role: 'viewer' });
  for (const url of ['/apps', '/deployments', `/deployments/${id}`]) {
    const seen = [await operator.send('GET', url), await viewer.send('GET', url), await call('GET', url)].map(
      (answer) => {
        const [first] = [answer.json<{ env_vars: object } | { env_vars: object }[]>()].flat();
        return first?.env_vars;
      },
    );
    const names = { TOKEN: '', EMPTY: '' };
    expect([url, ...seen]).toEqual([url, envVars, names, names]);
  }
  // Values wait for their row of the audit log; names do not.
  const fault = vi.spyOn(store.auditLog, 'append').mockRejectedValue(new Error('disk full'));
  const [withValues, withNames] = [await operator.send('GET', '/apps'), await call('GET', '/apps')];
  fault.mockRestore();
  expect([withValues.statusCode, withNames.statusCode]).toEqual([500, 200]);
  expect(withValues.body).not.toContain('of the program');
});
