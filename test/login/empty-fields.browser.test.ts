import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { findLoginPage } from '../../activities/login/find-login-page.ts';
import { createEgressPolicy } from '../../egress/policy.ts';
import { closeViewer, openViewer } from '../setup/viewer.ts';
import { loginTarget } from './login-fixtures.ts';

let browser: Browser;
beforeAll(async () => {
  browser = await openViewer();
});
afterAll(() => closeViewer(browser));

it.each([
  ['Username is empty', null],
  ['Please enter your password', null],
  ['This account is locked', 'This account is locked'],
])('tells what a page complains of at first, unless of its empty fields: %s', async (said, told) => {
  const page = await browser.newPage();
  try {
    await page.route('**/*', (route) =>
      route.fulfill({
        contentType: 'text/html',
        body: `<title>Log in</title><form><p class="error" role="alert">${said}</p><input name="user" placeholder="User name">
          <input type="password" placeholder="Password"><button>Log in</button></form>`,
      }),
    );
    const target = loginTarget({ loginUrl: 'https://site.example/' });
    const { kind, website_error: error } = await findLoginPage(page, target, { egress: createEgressPolicy('') });
    expect([kind, error]).toEqual(['form', told]);
  } finally {
    await page.close();
  }
});
