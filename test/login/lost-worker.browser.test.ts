import { MockActivityEnvironment } from '@temporalio/testing';
import { afterAll, expect } from 'vitest';
import { lockKeys } from '../../activities/login/entering/page-functions.ts';
import { createLoginActivities } from '../../activities/login/login-activities.ts';
import { readLogin } from '../../activities/login/reading/read-login.ts';
import type { Observation } from '../../contract/activities.ts';
import { it } from '../browser/shared-service.ts';
import { useStore } from '../store/databases.ts';
import { loginTarget } from './login-fixtures.ts';
import { FORM, PASSWORD_IN_FORM, startLoginOnSite, type LoginOnSite } from './login-on-site.ts';

const stores = useStore();
let login: LoginOnSite | undefined;
afterAll(async () => {
  await login?.close();
});

it('enters an answer although a worker was lost between two keys of a password', async ({ service }) => {
  login = await startLoginOnSite(service, stores().store, { '/form': FORM() });
  const { deps, sessionId, site } = login;
  const page = await login.open('/form');
  const seen = await readLogin(page);
  const password = await page.$('#pass');
  await password?.evaluate(lockKeys, 'this element' as const);
  await password?.fill('Zq7#');

  expect(await login.enter(seen)).toBe('element_not_found');
  const domain = `localhost:${site.port}`;
  const activities = createLoginActivities(deps);
  const environment = new MockActivityEnvironment();
  const { reading }: Observation = await environment.run(activities.readPage.bind(activities), {
    target: loginTarget({ domain, allowedDomains: [domain] }),
    sessionId,
    submitted: false,
    reopen: true,
  });
  expect(reading.fields.map(({ type }) => type)).toEqual(['identifier', 'password']);
  expect(await login.enter(reading)).toMatchObject({ reading: { kind: 'logged_in' } });
  expect(login.posted).toEqual([`${domain} user=ann&pass=${PASSWORD_IN_FORM}`]);
});
