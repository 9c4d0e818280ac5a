import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import * as oauth from 'openid-client';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { RunningApi } from '../../../api/service.ts';
import { axeComplaints } from '../../console/axe.ts';
import { keepShot } from '../../console/visit.ts';
import { NARROW } from '../../hosted/visit.ts';
import { useService } from '../service-fixture.ts';
import { signedIn, startAtPublicUrl } from './person.ts';
import { closeViewer, openViewer } from '../../setup/viewer.ts';

const fixture = useService();
let browser: Browser;
let api: RunningApi;
let program: Server;
beforeAll(async () => {
  browser = await openViewer();
  api = await startAtPublicUrl(fixture());
  program = createServer((_request, response) =>
    response.setHeader('content-type', 'text/html').end('<h1>Thanks</h1>'),
  );
  await new Promise<void>((resolve) => program.listen(0, '127.0.0.1', resolve));
});
afterAll(async () => {
  await closeViewer(browser);
  await api.close();
  program.close();
});

const WORDS = {
  en: {
    signIn: 'Sign in first',
    signedIn: 'I have signed in',
    question: 'Let Agent act for you?',
    read: 'Only read',
    allow: 'Allow',
  },
  de: {
    signIn: 'Melde dich zuerst an',
    signedIn: 'Ich habe mich angemeldet',
    question: 'Soll Agent für dich handeln?',
    read: 'Nur lesen',
    allow: 'Erlauben',
  },
} as const;

it.each([
  ['en', 'light'],
  ['de', 'dark'],
] as const)(
  'a person signs in, lets a program in and is back at it, under the policies of the pages (%s, %s)',
  async (locale, colorScheme) => {
    const words = WORDS[locale];
    const redirect_uri = `http://127.0.0.1:${(program.address() as AddressInfo).port}/callback`;
    const config = await oauth.dynamicClientRegistration(
      new URL(api.url),
      { client_name: 'Agent', redirect_uris: [redirect_uri], token_endpoint_auth_method: 'none' },
      oauth.None(),
      // The service of a test has no TLS.
      // oxlint-disable-next-line typescript/no-deprecated
      { algorithm: 'oauth2', execute: [oauth.allowInsecureRequests] },
    );
    const verifier = oauth.randomPKCECodeVerifier();
    const url = oauth.buildAuthorizationUrl(config, {
      redirect_uri,
      scope: 'read write',
      code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
    });

    const context = await browser.newContext({ ...NARROW, locale, colorScheme });
    const page = await context.newPage();
    const complaints: string[] = [];
    page.on('console', (message) => complaints.push(message.text()));
    await page.goto(url.href);
    await page.getByRole('heading', { name: words.signIn }).waitFor();
    expect(await axeComplaints(page)).toEqual([]);
    await keepShot(page, `consent-sign-in-${locale}`);
    const ann = await signedIn(fixture(), `${locale}@example.com`, 'operator');
    const [name = '', value = ''] = ann.cookie.split('=');
    await context.addCookies([{ name, value, url: api.url, httpOnly: true, sameSite: 'Lax' }]);
    await page.getByRole('link', { name: words.signedIn }).click();

    await page.getByRole('heading', { name: words.question }).waitFor();
    expect(await axeComplaints(page)).toEqual([]);
    await keepShot(page, `consent-${locale}`);
    await page.getByLabel(words.read).check();
    await page.getByRole('button', { name: words.allow }).click();
    await page.getByRole('heading', { name: 'Thanks' }).waitFor();
    const tokens = await oauth.authorizationCodeGrant(config, new URL(page.url()), { pkceCodeVerifier: verifier });
    expect(tokens.scope).toBe('read');
    expect(complaints.filter((text) => !text.includes('favicon'))).toEqual([]);
    await context.close();
  },
);
