import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Provider } from 'oidc-provider';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { RunningApi } from '../../api/service.ts';
import { startApi } from '../../api/service.ts';
import { useService } from '../api/service-fixture.ts';
import { NARROW, visit } from '../hosted/visit.ts';
import { freePort } from '../setup/free-port-block.ts';
import { axeComplaints } from './axe.ts';
import { keepShot } from './visit.ts';
import { closeViewer, openViewer } from '../setup/viewer.ts';

const fixture = useService();
let provider: Server;
let api: RunningApi;
let browser: Browser;
/** What the provider does with who comes to its page of sign-in. */
let refuses = false;

beforeAll(async () => {
  provider = createServer();
  await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve));
  const issuer = `http://127.0.0.1:${(provider.address() as AddressInfo).port}`;
  const port = await freePort();
  const publicUrl = `http://127.0.0.1:${port}`;
  const client = { client_id: 'holdfast', client_secret: 'of the client' };
  const openid = new Provider(issuer, {
    clients: [{ ...client, redirect_uris: [`${publicUrl}/session/oidc/callback`] }],
    claims: { openid: ['sub'], email: ['email', 'email_verified'] },
    findAccount: (_ctx, id) => ({
      accountId: id,
      claims: () => ({ sub: id, email: `${id}@corp.example`, email_verified: true }),
    }),
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_ctx, interaction) => `/sign-in/${interaction.uid}` },
    loadExistingGrant: async (ctx) => {
      const accountId = ctx.oidc.session?.accountId ?? '';
      const grant = new ctx.oidc.provider.Grant({ accountId, clientId: 'holdfast' });
      grant.addOIDCScope('openid email profile');
      await grant.save();
      return grant;
    },
  });
  const answer = openid.callback();
  provider.on('request', (request, response) => {
    if (request.url?.startsWith('/sign-in/') !== true) return void answer(request, response);
    const result = refuses ? { error: 'access_denied' } : { login: { accountId: 'ann' } };
    return void openid.interactionFinished(request, response, result);
  });
  const { deps } = fixture();
  const rules = [{ who: { domain: 'corp.example' }, organizationId: 'org_default', role: 'owner' as const }];
  const oidc = { issuer, clientId: client.client_id, clientSecret: client.client_secret, rules };
  api = await startApi({ ...deps, settings: { ...deps.settings, publicUrl, oidc }, port });
  browser = await openViewer();
});
afterAll(async () => {
  await closeViewer(browser);
  await api.close();
  provider.close();
});

test('someone who signs in with the provider only sees its rejection, then confirms there and returns', async () => {
  const { page, context, complaints } = await visit(browser, { ...NARROW, colorScheme: 'dark', locale: 'de' });
  refuses = true;
  await page.goto(`${api.url}/console`);
  await page.getByRole('link', { name: 'Über den Identitätsanbieter anmelden' }).click();
  await page.getByRole('heading', { name: 'Dein Identitätsanbieter hat dich nicht hereingelassen' }).waitFor();
  expect(await axeComplaints(page)).toEqual([]);
  expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBe(0);
  await keepShot(page, 'oidc-refused');
  await page.getByRole('link', { name: 'Zurück zur Anmeldung' }).click();
  refuses = false;
  await page.getByRole('link', { name: 'Über den Identitätsanbieter anmelden' }).click();
  await page.getByRole('button', { name: 'Menü' }).waitFor();

  fixture().shiftClock(20 * 60_000);
  await page.goto(`${api.url}/console/account`);
  await page.getByLabel('Name', { exact: true }).fill('Ann');
  await page.getByRole('button', { name: 'Speichern' }).click();
  const dialog = page.getByRole('dialog', { name: 'Bestätige, dass du es bist' });
  await dialog.waitFor();
  expect(await axeComplaints(page)).toEqual([]);
  await keepShot(page, 'oidc-confirm');
  // The provider has a clock of its own.
  fixture().shiftClock(0);
  await dialog.getByRole('button', { name: 'Beim Identitätsanbieter bestätigen' }).click();
  await page.getByText('Du hast bestätigt, dass du es bist.').waitFor();
  expect(new URL(page.url()).pathname).toMatch(/^\/console.*\/account$/);
  await page.getByLabel('Name', { exact: true }).fill('Ann');
  await page.getByRole('button', { name: 'Speichern' }).click();
  await page.getByRole('button', { name: 'Menü' }).click();
  await page.getByRole('link', { name: 'Ann', exact: true }).waitFor();
  expect(complaints).toEqual([]);
  await context.close();
});
