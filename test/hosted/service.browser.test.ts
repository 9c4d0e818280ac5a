import type { AddressInfo } from 'node:net';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { loginInteraction } from '../api/fake-connections.ts';
import { useService } from '../api/service-fixture.ts';
import { PHONE, visit } from './visit.ts';
import { closeViewer, openViewer } from '../setup/viewer.ts';

const fixture = useService();
let browser: Browser;
let base = '';
beforeAll(async () => {
  browser = await openViewer();
  await fixture().app.listen({ port: 0, host: '127.0.0.1' });
  base = `http://127.0.0.1:${(fixture().app.server.address() as AddressInfo).port}`;
});
afterAll(() => closeViewer(browser));

test('the page of the real service completes a login through its store', async () => {
  const { call, connections, store } = fixture();
  const created = await call('POST', '/auth/connections', { domain: 'shop.example', profile_name: 'ann' });
  const { id } = created.json<{ id: string }>();
  const login = await call('POST', `/auth/connections/${id}/login`);
  const hosted = new URL(login.json<{ hosted_url: string }>().hosted_url);
  const { page, context, complaints } = await visit(browser, PHONE);
  const submit = vi.spyOn(connections, 'submit');

  await page.goto(
    `${base}${hosted.pathname}${hosted.search}&success_url=${encodeURIComponent('https://app.example/ok')}`,
  );
  await page.getByRole('heading', { name: 'Finding the sign-in form' }).waitFor();
  await connections.moveFlow(id, { flow_step: 'AWAITING_INPUT', interaction: loginInteraction() });
  await page.getByLabel('E-mail').fill('ann@example.com');
  await page.getByLabel('Password', { exact: true }).fill('correct horse');
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.getByRole('heading', { name: 'Signing you in' }).waitFor();
  const sealed = submit.mock.calls[0]?.[1].submissionId;
  expect(sealed ? (await store.submissions.open(sealed))?.values : null).toEqual({
    fld_user: 'ann@example.com',
    fld_pass: 'correct horse',
  });
  await page.reload();
  await page.getByRole('heading', { name: 'Signing you in' }).waitFor();
  await connections.moveFlow(id, { flow_step: 'COMPLETED', flow_status: 'SUCCESS' });
  await page.getByRole('heading', { name: 'You are signed in' }).waitFor();
  await page.getByRole('button', { name: 'Stay on this page' }).click();
  expect(await page.getByRole('link').getAttribute('href')).toBe(
    'https://app.example/ok?profile_name=ann&domain=shop.example',
  );
  expect(complaints).toEqual([]);
  await context.close();
});

test("the public API document omits the page's own endpoints", async () => {
  const { paths } = (await fixture().call('GET', '/openapi.json')).json<{ paths: object }>();
  expect(Object.keys(paths).filter((path) => path.startsWith('/login'))).toEqual([]);
});
