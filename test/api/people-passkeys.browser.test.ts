import type { AddressInfo } from 'node:net';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createApi } from '../../api/service.ts';
import type { ApiServer } from '../../api/context.ts';
import { makeSignInCode } from '../../store/administrator.ts';
import {} from '../hosted/visit.ts';
import { useService } from './service-fixture.ts';
import { closeViewer, openViewer } from '../setup/viewer.ts';

const fixture = useService();
let browser: Browser;
let app: ApiServer;
let base = '';

beforeAll(async () => {
  browser = await openViewer();
  const { deps } = fixture();
  // Passkeys are for the host of the public URL, which a server on a free port learns late.
  const settings = { ...deps.settings, publicUrl: '' };
  const probe = await createApi({ ...deps, settings: { ...settings, publicUrl: 'http://localhost' } });
  await probe.listen({ port: 0, host: '127.0.0.1' });
  const { port } = probe.server.address() as AddressInfo;
  await probe.close();
  base = `http://localhost:${port}`;
  app = await createApi({ ...deps, settings: { ...settings, publicUrl: base } });
  await app.listen({ port, host: '127.0.0.1' });
});
afterAll(async () => {
  await closeViewer(browser);
  await app.close();
});

test('a person signs in with a link, registers a passkey, then signs in and confirms with it', async () => {
  const page = await browser.newPage();
  const devtools = await page.context().newCDPSession(page);
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
  await page.goto(`${base}/health`);
  const code = (await makeSignInCode(fixture().store, 'org_default')) ?? '';
  const seen = await page.evaluate(async (linkCode) => {
    const send = async (method: string, path: string, body?: unknown) => {
      const response = await fetch(path, {
        method,
        headers: { 'x-holdfast-page': '1', ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      const parsed: unknown = text === '' ? null : JSON.parse(text);
      return { status: response.status, body: parsed };
    };
    const get = async () => {
      const options = await send('POST', '/session/passkey/options');
      const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(
        options.body as PublicKeyCredentialRequestOptionsJSON,
      );
      const credential = (await navigator.credentials.get({ publicKey })) as PublicKeyCredential;
      const json: unknown = credential.toJSON();
      return json;
    };
    const link = await send('POST', '/session/link', { code: linkCode });
    const options = await send('POST', '/session/account/passkeys/options');
    const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(
      options.body as PublicKeyCredentialCreationOptionsJSON,
    );
    const made = (await navigator.credentials.create({ publicKey })) as PublicKeyCredential;
    const response: unknown = made.toJSON();
    const added = await send('POST', '/session/account/passkeys', { name: 'This laptop', response });
    const out = await send('DELETE', '/session');
    const nobody = await send('GET', '/session');
    const assertion = await get();
    const signedIn = await send('POST', '/session/passkey', assertion);
    const replayed = await send('POST', '/session/passkey', assertion);
    const confirmed = await send('POST', '/session/confirm', { passkey: await get() });
    return {
      statuses: [link, added, out, nobody, signedIn, replayed, confirmed].map(({ status }) => status),
      session: confirmed.body,
      cookie: document.cookie,
    };
  }, code);
  expect(seen.statuses).toEqual([200, 201, 204, 401, 200, 401, 200]);
  expect(seen.session).toMatchObject({ role: 'owner', passkeys: 1 });
  expect(seen.cookie).toBe('');
});
