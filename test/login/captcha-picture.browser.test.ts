import { type Browser, type Page } from 'playwright-core';
import { decode } from 'fast-png';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { readLogin } from '../../activities/login/reading/read-login.ts';
import { observeCaptcha } from '../../activities/login/captcha/solve.ts';
import type { PageReading } from '../../contract/reading.ts';
import { loginTarget } from './login-fixtures.ts';
import { closeViewer, openViewer } from '../setup/viewer.ts';

let browser: Browser;
let page: Page;
beforeAll(async () => {
  browser = await openViewer();
  page = await browser.newPage();
});
afterAll(() => closeViewer(browser));
beforeEach(() => page.goto('about:blank'));

const pages = { of: async () => page, release: async () => undefined, close: async () => undefined };
const observe = (reading: PageReading) =>
  observeCaptcha({ pages, captchas: undefined }, { target: loginTarget(), sessionId: 's' }, reading);

const SVG = `<svg xmlns='http://www.w3.org/2000/svg' width='120' height='40'><rect width='120' height='40' fill='red'/></svg>`;
const PICTURE = `data:image/svg+xml,${encodeURIComponent(SVG)}`;
const form = (characters: string): string => `<h1>Sign in</h1><form>
  <div><label>User <input name="user"></label></div><div><label>Password <input type="password" name="pass"></label></div>
  ${characters}<button>Sign in</button></form>`;

describe('the picture of a captcha field', () => {
  it.each([
    ['named by its image', `<div><img class="captcha" src="${PICTURE}"><input name="check"></div>`],
    ['named by its field', `<div><input name="captcha"><span><img src="${PICTURE}"></span></div>`],
    [
      'in Chinese, without a name in the address of its image',
      `<div class="row"><input placeholder="验证码"><div class="login-code"><img class="login-code-img" src="${PICTURE}"></div></div>`,
    ],
    [
      'drawn on a canvas',
      `<p>Security code <input name="c"> <canvas id="captchaCanvas" width="120" height="40"></canvas></p>`,
    ],
  ])('is captured if it is %s', async (_what, characters) => {
    await page.setContent(form(characters));
    const reading = await readLogin(page);
    expect(reading.fields.map(({ type, captcha = false }) => `${type} ${captcha}`)).toEqual([
      'identifier false',
      'password false',
      'text true',
    ]);
    const { pictures = {} } = await observe(reading);
    expect(Object.keys(pictures)).toEqual([reading.fields[2]?.name]);
    const [start, image] = Object.values(pictures)[0]?.split(',') ?? [];
    expect(start).toBe('data:image/png;base64');
    const { width, height } = decode(Buffer.from(image ?? '', 'base64'));
    // Whole pixels around it.
    expect(Math.abs(width - 120) + Math.abs(height - 40)).toBeLessThanOrEqual(2);
  });

  it('is left out if it does not load or is gone, and is no logo or QR code', async () => {
    await page.setContent(
      form(`<div><img class="captcha" src="data:image/png,broken" width="120" height="40"><input name="check"></div>`),
    );
    const broken = await readLogin(page);
    expect(broken.fields[2]).toMatchObject({ captcha: true, picture: expect.any(String) as string });
    expect(await observe(broken)).toEqual({});
    await page.setContent('<p>gone</p>');
    expect(await observe(broken)).toEqual({});
    await page.setContent(`<form><p>Enter the code of your authenticator app</p>
      <div><img class="qr-code-img" alt="QR code" src="${PICTURE}"><input name="code" autocomplete="one-time-code"></div></form>`);
    const totp = await readLogin(page);
    expect(totp.fields).toMatchObject([{ type: 'totp_code' }]);
    expect(totp.fields[0]).not.toHaveProperty('picture');
  });
});
