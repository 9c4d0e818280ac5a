import { afterAll, beforeAll, expect, test } from 'vitest';
import { useService } from '../api/service-fixture.ts';
import { DESKTOP } from '../hosted/visit.ts';
import { axeComplaints } from './axe.ts';
import { type ConsoleVisits, openConsole } from './visit.ts';

const fixture = useService();
let visits: ConsoleVisits;
beforeAll(async () => {
  visits = await openConsole(fixture());
});
afterAll(() => visits.close());

test('a passkey is created, signs in and confirms the identity', async () => {
  const { page, context, finish } = await visits.begin(DESKTOP);
  const devtools = await context.newCDPSession(page);
  await devtools.send('WebAuthn.enable');
  await devtools.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
  await page.goto(`${visits.base}/console/account`);
  await page.getByRole('button', { name: 'Add a passkey' }).click();
  await page.getByRole('dialog').getByLabel('Name').fill('Laptop');
  await page.getByRole('dialog').getByRole('button', { name: 'Add a passkey' }).click();
  await page.getByRole('row', { name: /Laptop/ }).waitFor();
  expect(await axeComplaints(page)).toEqual([]);
  await visits.shot(page, 'account');
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByRole('heading', { name: 'Sign in to Holdfast' }).waitFor();
  await visits.shot(page, 'sign-in');
  await page.getByRole('button', { name: 'Use a passkey' }).click();
  await page.getByRole('link', { name: 'Ann' }).click();
  await page.getByRole('row', { name: /Laptop/ }).waitFor();

  // After a quarter of an hour a change of the account asks once more, and is then made.
  fixture().shiftClock(20 * 60_000);
  await page.getByLabel('Name', { exact: true }).fill('Ann Archer');
  await page.getByRole('button', { name: 'Save' }).click();
  const dialog = page.getByRole('dialog', { name: 'Confirm that it’s you' });
  await dialog.waitFor();
  // The store has a clock of its own, which notes the proof.
  fixture().shiftClock(0);
  await dialog.getByRole('button', { name: 'Use a passkey' }).click();
  await page.getByRole('link', { name: 'Ann Archer' }).waitFor();
  await finish();
});

test('an invitation is accepted through its link', async () => {
  fixture().shiftClock(0);
  const owner = await visits.begin(DESKTOP);
  const invited = await owner.context.request.post(`${visits.base}/org/invitations`, {
    data: { email: 'bob@example.com', role: 'viewer' },
    headers: { origin: visits.base, 'x-holdfast-page': '1' },
  });
  const { url } = (await invited.json()) as { url: string };
  await owner.finish();
  const { page, context, finish } = await visits.begin(DESKTOP);
  await context.clearCookies();
  await page.goto(url);
  await page.getByText('You have joined the organization.').waitFor();
  expect(page.url()).toBe(`${visits.base}/console`);
  await page.getByRole('link', { name: 'bob@example.com' }).waitFor();
  await finish();
});
