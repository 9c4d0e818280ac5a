import type { Browser } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { google, mfaChoices, password, pause, smsCode, totpCode, username } from './pauses.ts';
import { launch, PHONE, serve, visit, type Site, type Visitor } from './visit.ts';

let browser: Browser;
let site: Site;
let visitor: Visitor;
beforeAll(async () => {
  browser = await launch();
});
afterAll(() => browser.close());
beforeEach(async () => {
  site = await serve();
  visitor = await visit(browser, PHONE);
});
afterEach(async () => {
  expect(visitor.complaints).toEqual([]);
  await visitor.context.close();
  await site.close();
});

describe('a login from the link to the end', () => {
  test('user, password, a second factor, and back to the app with profile and domain', async () => {
    const { page } = visitor;
    const { flow } = site;
    await page.goto(site.link({ success_url: `${site.url}/app/done?a=1%202&profile_name=old#top` }));
    await page.getByRole('heading', { name: 'Finding the sign-in form' }).waitFor();

    flow.go(pause([username, password], [google]));
    await page.getByLabel('Email or username').fill('  ada ');
    await page.getByLabel('Password', { exact: true }).fill('pa ss "wörd" ');
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByRole('heading', { name: 'Signing you in' }).waitFor();
    expect(flow.submitted.at(-1)?.field_values).toEqual({ 'f-user': 'ada', 'f-pass': 'pa ss "wörd" ' });

    flow.go(pause([], mfaChoices));
    await page.getByRole('button', { name: /Text message/ }).click();
    await page.getByRole('heading', { name: 'Signing you in' }).waitFor();
    expect(flow.submitted.at(-1)).toMatchObject({ selected_choice_id: 'm-sms' });

    flow.go(pause([smsCode]));
    const code = page.getByLabel('Verification code');
    expect(await code.getAttribute('inputmode')).toBe('numeric');
    expect(await code.getAttribute('autocomplete')).toBe('one-time-code');
    await code.fill('12 34-56');
    await code.press('Enter');
    await expect.poll(() => flow.submitted.at(-1)?.field_values).toEqual({ 'f-code': '123456' });

    flow.go({ flow_status: 'SUCCESS', flow_step: 'COMPLETED', status: 'AUTHENTICATED' });
    await page.waitForURL(/\/app\/done/);
    expect(page.url()).toBe(`${site.url}/app/done?a=1%202&profile_name=ada&domain=shop.example.com#top`);
  });

  test('a refused password is said beside its field, with the name kept and the password gone', async () => {
    const { page } = visitor;
    const { flow } = site;
    await page.goto(site.link());
    flow.go(pause([username, password]));
    await page.getByLabel('Email or username').fill('ada');
    await page.getByLabel('Password', { exact: true }).fill('first');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Signing you in' }).waitFor();
    flow.go(pause([username, { ...password, reason: 'rejected' }], [], { website_error: 'Wrong <b>password</b>.' }));
    const field = page.getByLabel('Password', { exact: true });
    await field.waitFor();
    expect(await field.inputValue()).toBe('');
    expect(await page.getByLabel('Email or username').inputValue()).toBe('ada');
    expect(await field.getAttribute('aria-invalid')).toBe('true');
    const described = (await field.getAttribute('aria-describedby')) ?? '';
    expect(await page.locator(`#${described}`).textContent()).toBe('shop.example.com says: Wrong <b>password</b>.');
    expect(await field.evaluate((element) => element === document.activeElement)).toBe(true);
    expect(await page.title()).toMatch(/^Error: /);
  });

  test('a confirmation elsewhere shows what to do, and goes on by itself', async () => {
    const { page } = visitor;
    const { flow } = site;
    await page.goto(site.link());
    flow.go({ flow_step: 'AWAITING_EXTERNAL_ACTION', external_action_message: 'Tap 42 on your phone.' });
    await page.getByText('Tap 42 on your phone.').first().waitFor();
    await page.getByText('Waiting for you to confirm').waitFor();
    flow.go(pause([totpCode], [], { flow_step: 'AWAITING_EXTERNAL_ACTION', external_action_message: 'Tap 42.' }));
    await page.getByLabel('Authentication code').fill('123456');
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByRole('heading', { name: 'Signing you in' }).waitFor();
    flow.go({ flow_status: 'SUCCESS', flow_step: 'COMPLETED' });
    await page.getByRole('heading', { name: 'You are signed in' }).waitFor();
    expect(await page.getByRole('link').count()).toBe(0);
  });
});
