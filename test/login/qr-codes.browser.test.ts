import { type Browser, type Page } from 'playwright-core';
import { encodeQR } from 'qr';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { collectFrames } from '../../activities/login/reading/frames.ts';
import { readPage } from '../../activities/login/reading/read-page.ts';
import { closeViewer, openViewer } from '../setup/viewer.ts';
import { readTotpSetup } from '../../reader/signs/totp-setup.ts';

let browser: Browser;
let page: Page;
beforeAll(async () => {
  browser = await openViewer();
  page = await browser.newPage();
});
afterAll(() => closeViewer(browser));

const LINK =
  'otpauth://totp/Example%20Bank:ada@example.com?secret=JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP&issuer=Example%20Bank';
const image = (text: string, side = 180): string =>
  `<img src="${encodeQR(text, 'data-url')}" width=${String(side)} height=${String(side)} alt="">`;
const rows = encodeQR(LINK, 'raw');
const DRAWN = `<canvas id=key width=${String(rows.length * 5)} height=${String(rows.length * 5)}></canvas><script>
  const pen = document.getElementById('key').getContext('2d');
  ${JSON.stringify(rows)}.forEach((row, y) => row.forEach((dark, x) => {
    pen.fillStyle = dark ? '#035' : '#ffe'; pen.fillRect(x * 5, y * 5, 5, 5); }));</script>`;
const ELSEWHERE = `<iframe width=300 height=260 srcdoc='${image(LINK).replaceAll("'", '')}'></iframe>`;

it.each([
  ['in a picture', image(LINK)],
  ['in a small picture below the fold', `<p style="height:1500px">Scroll</p>${image(LINK, 110)}`],
  ['on a canvas', DRAWN],
  ['as inline SVG, with little around it', `<div style="width:170px">${encodeQR(LINK, 'svg', { border: 1 })}</div>`],
  ['in a frame', ELSEWHERE],
  [
    'in the background',
    `<div style="width:200px;height:200px;background-size:cover;background-image:url('${encodeQR(LINK, 'data-url')}')"></div>`,
  ],
  ['beside the code of an application to install', image('https://apps.example.com/authenticator') + image(LINK)],
])('reads the key of a new authenticator from a QR code %s', async (_how, code) => {
  // As good as a new page, which costs a process: a document of its own.
  await page.goto('about:blank');
  const body = (shown: string): string =>
    `<h1>Set up your authenticator app</h1><p>Scan the QR code with it.</p>${shown}
     <form><label for=c>Authentication code</label><input id=c autocomplete=one-time-code><button>Verify</button></form>`;
  await page.setContent(body(code));
  expect(readTotpSetup(await collectFrames(page))?.secret).toBe(LINK);
  const reading = await readPage(page);
  expect(reading.enrolment).toBe(true);
  expect(JSON.stringify(reading)).not.toMatch(/JBSWY3DP|otpauth/i);
  await page.setContent(body(image('https://apps.example.com/authenticator')));
  expect((await readPage(page)).enrolment).toBeUndefined();
});
