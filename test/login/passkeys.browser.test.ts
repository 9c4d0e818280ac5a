import { createServer } from 'node:http';
import { type Browser, type BrowserContext, type Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createPasskeys, type Passkeys } from '../../activities/login/credentials/passkeys.ts';
import type { LoginTarget } from '../../contract/activities.ts';
import type { Passkey } from '../../contract/passkeys.ts';
import { createExternalCredentials, type OpenedProvider } from '../../credential-providers/external-credentials.ts';
import { createEgressPolicy } from '../../egress/policy.ts';
import type { OpenedCredential } from '../../store/queries/credentials.ts';
import { startStandIn, TOKEN, vaultAnswers } from '../credential-providers/stand-ins.ts';
import { newPasskey } from '../setup/passkey.ts';
import { SCOPE, useStore } from '../store/databases.ts';
import { loginTarget } from './login-fixtures.ts';
import { closeViewer, openViewer } from '../setup/viewer.ts';

const stores = useStore();
let browser: Browser;
let context: BrowserContext;
let page: Page;
let url: string;
const site = createServer((_request, response) => {
  response.setHeader('content-type', 'text/html');
  response.end('<!doctype html><title>Site</title><h1>Site</h1>');
});
beforeAll(async () => {
  browser = await openViewer();
  await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
  const address = site.address();
  url = `http://localhost:${String(typeof address === 'object' && address !== null ? address.port : 0)}/`;
});
afterAll(async () => {
  await closeViewer(browser);
  site.close();
});
beforeEach(async () => {
  context = await browser.newContext();
  page = await context.newPage();
});
afterEach(() => context.close());

const pages = { of: async () => page, release: async () => undefined, close: async () => undefined };
const nobody = createExternalCredentials({
  providers: { open: () => Promise.resolve(null) },
  egress: createEgressPolicy(''),
});

/** A login at the site whose credential holds these passkeys, prepared as its activities do; answers the credential's id. */
async function loginWith(held: Passkey[]): Promise<{ passkeys: Passkeys; id: string; of: [LoginTarget, string] }> {
  const { store } = stores();
  const name = `credential ${String(Math.random())}`;
  const { id } = await store.credentials.create(SCOPE, { name, domain: 'localhost', values: {}, passkeys: held });
  const passkeys = createPasskeys({ store, pages, externalCredentials: nobody });
  const target = loginTarget({ ...SCOPE, domain: new URL(url).host, credentialName: name });
  await passkeys.prepare(target, 'brw_1');
  await passkeys.prepare(target, 'brw_1');
  return { passkeys, id, of: [target, 'brw_1'] };
}

/** Asks the browser for a passkey, as a site does; answers its id, or the name of the refusal. */
const ask = (on: Page, rpId = 'localhost'): Promise<string> =>
  on.evaluate(
    `navigator.credentials.get({ publicKey: { challenge: new Uint8Array(16), rpId: ${JSON.stringify(rpId)}, userVerification: 'required' } })
      .then(({ id }) => id, ({ name }) => name)`,
  );
/** How often the passkey says that it has signed: the bytes 33 to 36 of what it signs. */
const countAfterAsking = (on: Page): Promise<number> =>
  on.evaluate(
    `navigator.credentials.get({ publicKey: { challenge: new Uint8Array(16), rpId: 'localhost' } })
      .then(({ response }) => new DataView(response.authenticatorData).getUint32(33))`,
  );
const create = (on: Page): Promise<string> =>
  on.evaluate(
    `navigator.credentials.create({ publicKey: {
        challenge: new Uint8Array(16), rp: { id: 'localhost', name: 'Site' },
        user: { id: new Uint8Array([1]), name: 'ann', displayName: 'Ann' },
        pubKeyCredParams: [{ type: 'public-key', alg: -7 }],
        authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
      } }).then(({ id }) => id, ({ name }) => name)`,
  );

describe('the passkeys of a login', () => {
  it('answer prompts of their own site only, in the page and its popups', async () => {
    const mine = newPasskey('mine', { rp_id: 'localhost' });
    const { passkeys, of } = await loginWith([mine, newPasskey('another site', { rp_id: 'other.example' })]);
    await page.goto(url);
    expect(await ask(page)).toBe(mine.credential_id);
    const [popup] = await Promise.all([
      context.waitForEvent('page'),
      page.evaluate(`void open(${JSON.stringify(url)})`),
    ]);
    await popup.waitForLoadState();
    await passkeys.prepare(...of);
    expect(await ask(popup)).toBe(mine.credential_id);
  });

  it('are restored after another debugger detaches from the page', async () => {
    const mine = newPasskey('mine', { rp_id: 'localhost' });
    const { passkeys, of } = await loginWith([mine]);
    await page.goto(url);
    const other = await context.newCDPSession(page);
    await other.detach();
    await passkeys.prepare(...of);
    expect(await ask(page)).toBe(mine.credential_id);
  });

  it('decline a prompt at once if there are none', async () => {
    await loginWith([]);
    await page.goto(url);
    expect(await ask(page)).toBe('NotAllowedError');
  });

  it('count signatures, and keep counts of zero at zero', async () => {
    const counting = newPasskey('counting', { rp_id: 'localhost', sign_count: 7 });
    for (const [passkey, after] of [
      [counting, 9],
      [newPasskey('not counting', { rp_id: 'localhost' }), 0],
    ] as const) {
      const { passkeys, id, of } = await loginWith([passkey]);
      await page.goto(url);
      await ask(page);
      await passkeys.saveSignCounts(...of);
      await ask(page);
      await passkeys.saveSignCounts(...of);
      const opened: OpenedCredential | null = await stores().store.credentials.open(id);
      expect(opened?.passkeys).toEqual([{ ...passkey, sign_count: after }]);
      await context.close();
      context = await browser.newContext();
      page = await context.newPage();
    }
  });

  it('of an external secret store are fetched for each login and count by the clock, because counts are not written back', async () => {
    const counting = newPasskey('counting', { rp_id: 'localhost', sign_count: 7 });
    const still = newPasskey('not counting', { rp_id: 'localhost' });
    const held = { site: { data: { passkeys: [counting] } } };
    const vault = await startStandIn(vaultAnswers(() => held));
    const account: OpenedProvider = {
      id: 'cpv_1',
      type: 'vault',
      token: TOKEN,
      address: vault.address,
      mount: null,
      namespace: null,
      region: null,
      enabled: true,
      cacheTtlSeconds: 300,
      updatedAt: new Date(0),
    };
    const externalCredentials = createExternalCredentials({
      providers: { open: () => Promise.resolve(account) },
      egress: createEgressPolicy(vault.host),
    });
    const { store } = stores();
    let seconds = 1_800_000_000;
    const passkeys = createPasskeys({ store, pages, externalCredentials }, () => seconds * 1000);
    const externalCredential = { provider: 'store', path: 'site' };
    const target = loginTarget({ ...SCOPE, domain: new URL(url).host, externalCredential });
    const counts: number[] = [];
    for (const passkey of [counting, counting, still]) {
      held.site.data.passkeys = [passkey];
      await passkeys.prepare(target, 'brw_1');
      await page.goto(url);
      counts.push(await countAfterAsking(page));
      await passkeys.saveSignCounts(target, 'brw_1');
      seconds += 3600;
      await context.close();
      context = await browser.newContext();
      page = await context.newPage();
    }
    expect(counts).toEqual([1_800_000_001, 1_800_003_601, 0]);
    await vault.close();
  });

  it('are created only once a person has agreed, also in later pages, and returned once', async () => {
    const { passkeys, of } = await loginWith([]);
    await page.goto(url);
    expect(await create(page)).toBe('NotAllowedError');
    await page.goto(`${url}again`);
    expect(await create(page)).toBe('NotAllowedError');
    expect(await passkeys.takeCreated(...of)).toEqual([]);
    await passkeys.allowCreation(...of);
    const first = await create(page);
    await page.goto(`${url}later`);
    expect(await passkeys.takeCreated(...of)).toMatchObject([
      { credential_id: first, rp_id: 'localhost', user_handle: 'AQ', user_name: 'ann' },
    ]);
    const second = await create(page);
    expect(await passkeys.takeCreated(...of)).toMatchObject([{ credential_id: second }]);
    expect(await passkeys.takeCreated(...of)).toEqual([]);
  });
});
