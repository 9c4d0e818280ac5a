import type { Browser } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { ManagedAuthField } from '../../contract/interaction.ts';
import { google, mfaChoices, password, pause, smsCode, totpCode, username } from './pauses.ts';
import { PHONE, serve, visit, type Site, type Visitor } from './visit.ts';
import { closeViewer, openViewer } from '../setup/viewer.ts';

let browser: Browser;
let site: Site;
let visitor: Visitor;
beforeAll(async () => {
  browser = await openViewer();
});
afterAll(() => closeViewer(browser));
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
  test('user, password and second factor, then back to the app with profile and domain', async () => {
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

  test('a wrong form is replaced by the next one, and by the first again after the last', async () => {
    const { page } = visitor;
    const { flow } = site;
    await page.goto(site.link());
    flow.go(pause([username, password]));
    const pass = page.getByRole('button', { name: 'This is not the right form' });
    await pass.click();
    await page.getByRole('heading', { name: 'Finding the sign-in form' }).waitFor();
    expect(flow.submitted.at(-1)).toMatchObject({ wrong_form: true });
    flow.go({ ...pause([username]), formNotice: 'another_form' });
    await page.getByText('Here is another sign-in form on shop.example.com.').waitFor();
    flow.go({ ...pause([username, password]), formNotice: 'first_form_again' });
    await page.getByText('shop.example.com has no other sign-in form.').waitFor();
    // What follows the right form is no form to choose.
    flow.go(pause([smsCode]));
    await page.getByLabel('Verification code').waitFor();
    expect(await pass.count()).toBe(0);
  });

  test('the picture of a captcha is shown at its field', async () => {
    const { page } = visitor;
    const dot = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII=';
    await page.goto(site.link());
    const characters: ManagedAuthField = {
      id: 'f-c',
      ref: 'captcha',
      type: 'text',
      reason: 'missing',
      label: 'Characters',
    };
    site.flow.go(pause([username, password, characters], [], { pictures: { 'f-c': `data:image/png;base64,${dot}` } }));
    const picture = page.getByRole('img', { name: 'Picture from the site' });
    await picture.waitFor();
    expect(await picture.evaluate((image) => image instanceof HTMLImageElement && image.naturalWidth)).toBe(1);
    expect(await page.locator('.field', { has: picture }).getByLabel('Characters').count()).toBe(1);
  });

  test('a rejected password is shown at its field, keeping the username but not the password', async () => {
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

  test('a confirmation elsewhere shows what to do and continues automatically', async () => {
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

describe('the screencast of the site’s page', () => {
  test('accepts a phone’s keyboard and two-finger scrolling, and nothing once the step is over', async () => {
    const { page, context } = visitor;
    const { flow } = site;
    const onPage = { ...pause([]), flow_step: 'AWAITING_EXTERNAL_ACTION' as const, actsOnPage: true };
    // A JPEG of one pixel, which stands for a page of 1280 times 800.
    const jpeg = await page.evaluate<string>(
      `Object.assign(document.createElement('canvas'), { width: 640, height: 400 }).toDataURL('image/jpeg').split(',')[1]`,
    );
    flow.pictures = `event: frame\ndata: ${JSON.stringify({ width: 1280, height: 800, jpeg })}\n\n`;
    await page.goto(site.link());
    flow.go(onPage);
    const canvas = page.locator('canvas.picture[width="640"]');
    await canvas.waitFor();
    expect(flow.watching).toBe(1);
    // The page comes in by moving, and the picture with it.
    await page.evaluate(`Promise.all(document.getAnimations()
      .filter(({ effect }) => effect.getComputedTiming().endTime < Infinity)
      .map(({ finished }) => finished.catch(() => undefined)))`);
    const box = await canvas.boundingBox();
    if (box === null) throw new Error('no picture');
    const middle = { x: box.x + box.width / 2, y: box.y + box.height / 2 };
    const keys = page.getByLabel('Keyboard input for the site’s page');

    // Nothing that types has the focus there: no keyboard comes up but by its button.
    flow.focus = { kind: 'none' };
    await page.touchscreen.tap(middle.x, middle.y);
    await expect.poll(() => flow.done.map(({ do: what }) => what)).toEqual(['down', 'up']);
    expect(flow.done[0]).toMatchObject({ x: 640, y: 400 });
    expect(await keys.getAttribute('inputmode')).toBe('none');
    await page.getByRole('button', { name: 'Keyboard' }).click();
    expect(await keys.getAttribute('inputmode')).toBe('text');

    flow.focus = { kind: 'text', label: 'Word', secret: true, keyboard: 'text' };
    await page.touchscreen.tap(middle.x, middle.y);
    await page.locator('.picture-keys[type=password][inputmode=text]').waitFor();
    flow.done.length = 0;
    await page.keyboard.type('a😀');
    await page.keyboard.press('Backspace');
    await page.keyboard.press('Tab');
    await page.keyboard.insertText('x'.repeat(60));
    await page.keyboard.press('Enter');
    await expect
      .poll(() =>
        flow.done.map((action) => ('text' in action ? action.text : 'key' in action ? action.key : action.do)),
      )
      .toEqual(['a', '😀', 'BackSpace', 'Tab', 'x'.repeat(50), 'x'.repeat(10), 'Return']);
    expect(await keys.inputValue()).toBe(' ');
    expect(page.url()).not.toContain('x');

    flow.done.length = 0;
    const cdp = await context.newCDPSession(page);
    const fingers = (y: number) => [
      { x: middle.x - 40, y, id: 1 },
      { x: middle.x + 40, y, id: 2 },
    ];
    const touch = (type: 'touchStart' | 'touchMove' | 'touchEnd', touchPoints: ReturnType<typeof fingers>) =>
      cdp.send('Input.dispatchTouchEvent', { type, touchPoints });
    await touch('touchStart', fingers(middle.y));
    await touch('touchMove', fingers(middle.y - 30));
    await touch('touchMove', fingers(middle.y - 60));
    await touch('touchEnd', []);
    const turned = (): number => flow.done.reduce((sum, each) => sum + (each.do === 'wheel' ? each.notches : 0), 0);
    await expect.poll(turned).toBeCloseTo((60 * 1280) / box.width / 120, 1);
    expect(flow.done.filter(({ do: what }) => what !== 'wheel')).toEqual([]);

    flow.go(pause([password]));
    await page.getByLabel('Password', { exact: true }).waitFor();
    await expect.poll(() => flow.watching).toBe(0);
  });
});
