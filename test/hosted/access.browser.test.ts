import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { google, mfaChoices, password, pause, smsCode, username } from './pauses.ts';
import { DESKTOP, PHONE, serve, visit, type Site, type Visitor } from './visit.ts';
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
  visitor = await visit(browser, DESKTOP);
});
afterEach(async () => {
  expect(visitor.complaints).toEqual([]);
  await visitor.context.close();
  await site.close();
});

const focused = (page: Page) =>
  page.evaluate(() => {
    const element = document.activeElement;
    return element?.getAttribute('aria-label') ?? element?.textContent.trim() ?? '';
  });

describe('keyboard access', () => {
  test('a whole login works, with the focus always at the next step', async () => {
    const { page } = visitor;
    const { keyboard } = page;
    await page.goto(site.link());
    await expect.poll(() => focused(page)).toBe('Finding the sign-in form');

    site.flow.go(pause([username, password], [google]));
    await page.getByLabel('Email or username').waitFor();
    await keyboard.type('ada');
    await keyboard.press('Tab');
    await keyboard.type('secret');
    await keyboard.press('Tab');
    expect(await focused(page)).toBe('Show Password');
    await keyboard.press('Space');
    expect(await page.getByLabel('Password', { exact: true }).getAttribute('type')).toBe('text');
    await keyboard.press('Tab');
    expect(await focused(page)).toBe('Sign in');
    await keyboard.press('Enter');
    await expect.poll(() => focused(page)).toBe('Signing you in');

    site.flow.go(pause([], mfaChoices));
    await expect.poll(() => focused(page)).toBe('How do you want to confirm that it’s you?');
    await keyboard.press('Tab');
    await keyboard.press('Tab');
    await keyboard.press('Enter');
    await expect.poll(() => site.flow.submitted.at(-1)?.selected_choice_id).toBe('m-call');

    site.flow.go(pause([smsCode]));
    await page.getByLabel('Verification code').waitFor();
    await keyboard.type('123456');
    await keyboard.press('Enter');
    await expect.poll(() => site.flow.submitted.length).toBe(3);
    site.flow.go({ flow_status: 'SUCCESS' });
    await expect.poll(() => focused(page)).toBe('You are signed in');
    expect(site.flow.submitted.map(({ field_values: values }) => values)).toEqual([
      { 'f-user': 'ada', 'f-pass': 'secret' },
      undefined,
      { 'f-code': '123456' },
    ]);
  });

  test('an empty field is marked and focused; nothing is sent', async () => {
    const { page } = visitor;
    site.flow.go(pause([username, password]));
    await page.goto(site.link());
    await page.getByLabel('Email or username').fill('ada');
    await page.keyboard.press('Enter');
    const field = page.getByLabel('Password', { exact: true });
    expect(await field.getAttribute('aria-invalid')).toBe('true');
    expect(await field.evaluate((element) => element === document.activeElement)).toBe(true);
    expect(await page.locator(`#${(await field.getAttribute('aria-describedby')) ?? ''}`).textContent()).toBe(
      'Enter your Password.',
    );
    expect(site.flow.submitted).toEqual([]);
  });

  test('the focus is always visible', async () => {
    const { page } = visitor;
    site.flow.go(pause([username, password], [google]));
    await page.goto(site.link());
    await page.getByLabel('Email or username').waitFor();
    const stops = 6;
    for (let stop = 0; stop < stops; stop += 1) {
      const shown = await page.evaluate(() => {
        const style = getComputedStyle(document.activeElement ?? document.body);
        return style.boxShadow !== 'none' || (style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 2);
      });
      expect(shown, await focused(page)).toBe(true);
      await page.keyboard.press('Tab');
    }
  });
});

describe('screen reader access', () => {
  test('the tree has one heading, labeled fields, named buttons and a list of choices', async () => {
    const { page } = visitor;
    site.flow.go(pause([{ ...username, hint: 'As on your card' }, password], mfaChoices));
    await page.goto(site.link());
    await page.getByLabel('Email or username').waitFor();
    const tree = await page.locator('body').ariaSnapshot();
    expect(tree).toContain('- banner:');
    expect(tree).toContain('- main:');
    expect(tree).toMatch(/- timer: Time left/);
    expect(tree).toContain('- heading "Enter your sign-in details" [level=1]');
    expect(tree).toContain('- textbox "Email or username"');
    expect(tree).toContain('- textbox "Password"');
    expect(tree).toContain('- button "Show Password"');
    expect(tree).toContain('- button "Sign in"');
    expect(tree).toContain('- button "Text message •••• •••• 42"');
    expect(tree.match(/level=1/g)).toHaveLength(1);
    const described = await page.getByLabel('Email or username').getAttribute('aria-describedby');
    expect(await page.locator(`#${described ?? ''}`).textContent()).toBe('As on your card');
  });

  test('progress, the site’s error and the end are announced politely', async () => {
    const { page } = visitor;
    const said = () => page.locator('[role=status].visually-hidden').textContent();
    await page.goto(site.link());
    await expect.poll(said).toContain('We are opening shop.example.com');
    site.flow.go(pause([{ ...password, reason: 'rejected' }], [], { website_error: 'Wrong password.' }));
    await expect.poll(said).toContain('shop.example.com says: Wrong password. Enter your password.');
    site.flow.go({ flow_step: 'SUBMITTING' });
    await expect.poll(said).toContain('is checking what you entered');
    site.flow.go({ flow_status: 'SUCCESS' });
    await expect.poll(said).toContain('can now use your account');
  });

  test('the page is in German for those who prefer it', async () => {
    const german = await visit(browser, { ...PHONE, locale: 'de-DE' });
    site.flow.go(pause([{ id: 'f', ref: 'username', type: 'identifier', reason: 'missing' }]));
    await german.page.goto(site.link());
    await german.page.getByRole('heading', { name: 'Gib deinen Benutzernamen ein' }).waitFor();
    await german.page.getByLabel('Benutzername oder E-Mail').waitFor();
    expect(await german.page.locator('html').getAttribute('lang')).toBe('de');
    await german.context.close();
  });

  test('without JavaScript the page says so, and the link stays valid', async () => {
    const plain = await visit(browser, { javaScriptEnabled: false });
    const link = site.link();
    await plain.page.goto(link);
    await plain.page.locator('.noscript').waitFor();
    expect(await plain.page.locator('.noscript').textContent()).toContain('This page needs JavaScript');
    expect((await plain.page.locator('.noscript').boundingBox())?.y).toBeLessThan(100);
    await plain.context.close();
    await visitor.page.goto(link);
    await visitor.page.getByRole('heading', { name: 'Finding the sign-in form' }).waitFor();
  });
});

describe('touch and sight', () => {
  test('touch targets are at least 44 pixels high', async () => {
    const phone = await visit(browser, PHONE);
    site.flow.go(pause([username, password, smsCode], mfaChoices));
    await phone.page.goto(site.link());
    await phone.page.getByLabel('Email or username').waitFor();
    const small = await phone.page.evaluate(() => {
      // While a screen moves in, a height of 44 pixels is read as 43.9999, too.
      for (const animation of document.getAnimations()) animation.finish();
      return Array.from(document.querySelectorAll('button, input, a, summary'))
        .filter((element) => element.getBoundingClientRect().height < 44)
        .map((element) => element.textContent);
    });
    expect(small).toEqual([]);
    await phone.context.close();
  });

  test('inputs use the right keyboard and autofill, and never zoom on phones', async () => {
    const { page } = visitor;
    site.flow.go(
      pause([username, password, smsCode], [], {
        discovered_fields: [
          { name: 'u', type: 'email', label: 'u', selector: '#u' },
          { name: 'p', type: 'password', label: 'p', selector: '#p' },
          { name: 'c', type: 'code', label: 'c', selector: '#c' },
        ],
      }),
    );
    await page.goto(site.link());
    const inputs = page.locator('input');
    await inputs.first().waitFor();
    const attributes = await inputs.evaluateAll((all) =>
      all.map((element) => [
        element.getAttribute('type'),
        element.getAttribute('autocomplete'),
        element.getAttribute('inputmode'),
      ]),
    );
    expect(attributes).toEqual([
      ['email', 'username', 'email'],
      ['password', 'current-password', null],
      ['text', 'one-time-code', 'numeric'],
    ]);
    const sizes = await inputs.evaluateAll((all) =>
      all.map((element) => parseFloat(getComputedStyle(element).fontSize)),
    );
    expect(Math.min(...sizes)).toBeGreaterThanOrEqual(16);
    await page.getByRole('button', { name: 'My code has letters' }).click();
    expect(await inputs.nth(2).getAttribute('inputmode')).toBe('text');
  });
});
