import { type Browser, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findClickPoint } from '../../activities/login/entering/page-functions.ts';
import { closeViewer, openViewer } from '../setup/viewer.ts';

let browser: Browser;
let page: Page;
beforeAll(async () => {
  browser = await openViewer();
  page = await browser.newPage();
});
afterAll(() => closeViewer(browser));

/** Clicks where a click is said to reach `#target`; answers what took it, or null when no place was found. */
async function clickTakenBy(html: string): Promise<string | null> {
  // As good as a new page, which costs a process: a document of its own.
  await page.goto('about:blank');
  await page.setContent(`<body style="margin: 20px; font: 16px/2 monospace">${html}`);
  const target = page.locator('#target');
  const [box, spot] = [await target.boundingBox(), await target.evaluate(findClickPoint)];
  if (box === null || spot === null) return null;
  await page.evaluate(() => {
    addEventListener('click', (event) => {
      event.preventDefault();
      document.title = event.target instanceof Element ? event.target.id : '';
    });
  });
  await page.mouse.click(box.x + spot.x, box.y + spot.y);
  return await page.title();
}

describe('where an element is clicked', () => {
  it.each([
    ['a button', '<button id="target">Sign in</button>', 'target'],
    ['what is inside it', '<button id="target"><b id="inner">Sign in</b></button>', 'inner'],
    [
      'a link that is broken over two lines, whose middle lies beside its words',
      '<p id="around" style="width: 25em">Long words that come before it, then <a id="target" href="/x">use a code</a></p>',
      'target',
    ],
    ['its label', '<label id="label" style="display: block">On<input id="target" type="checkbox"></label>', 'target'],
    [
      'what it passes clicks on to',
      '<a id="around" href="/x"><span id="target" style="pointer-events: none">Sign in</span></a>',
      'around',
    ],
    [
      'the button in a component, by what stands in its slot',
      `<x-button id="host"><b id="words">Sign in</b></x-button><script>
       customElements.define('x-button', class extends HTMLElement { constructor() { super();
         this.attachShadow({ mode: 'open' }).innerHTML = '<div id="target" role="button" style="display: inline-block"><slot></slot></div>'; } });</script>`,
      'words',
    ],
    [
      'the button in a component, by the bare text in its slot',
      `<x-words id="host">Sign in</x-words><script>
       customElements.define('x-words', class extends HTMLElement { constructor() { super();
         this.attachShadow({ mode: 'open' }).innerHTML = '<button id="target"><slot></slot></button>'; } });</script>`,
      'host',
    ],
    [
      'an element of its size that takes its clicks',
      `<div style="position: relative; display: inline-block"><button id="target" aria-hidden="true">Sign in</button>
       <div id="filter" role="button" style="position: absolute; inset: 0"></div></div>`,
      'filter',
    ],
    [
      'nothing, while a notice covers it',
      '<button id="target">Sign in</button><div id="notice" style="position: fixed; inset: 0"></div>',
      null,
    ],
  ])('%s', async (_what, html, taken) => {
    expect(await clickTakenBy(html)).toBe(taken);
  });
});
