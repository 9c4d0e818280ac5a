import { chromium } from 'playwright-core';
import type { Browser } from 'playwright-core';
import { afterAll, afterEach, beforeEach, describe, expect } from 'vitest';
import { WebSocket } from 'ws';
import { TelemetryEnvelope } from '../../contract/telemetry-events.ts';
import type { ServiceUnderTest, Site } from './service-under-test.ts';
import { eventually, startSite } from './service-under-test.ts';
import { it } from './shared-service.ts';

/** Opens a popup on click, then requests `/went-on`, which an opener that hangs never does. */
const OPENER = `<style>button{position:absolute;left:10px;top:10px;width:200px;height:80px}</style><button>log in</button><script>
document.querySelector('button').onclick = () => {
  open('/provider', 'provider', 'width=400,height=300');
  fetch('/went-on');
};
addEventListener('message', ({ data }) => fetch('/' + data));
addEventListener('load', () => requestAnimationFrame(() => fetch('/drawn')));
</script>`;
/** Posts to its opener and closes, like login providers' popups. Requests `/began-…` with who prepared it when it starts. */
const PROVIDER = `<style>button{position:absolute;left:10px;top:10px;width:200px;height:80px}</style><button>allow</button><script>
requestAnimationFrame(() => fetch('/began-' + (window.preparedBy ?? 'alone')));
document.querySelector('button').onclick = () => { opener.postMessage('allowed', '*'); close(); };
</script>`;

/** Ways to open another page, below each other. */
const LINKS = `<style>a,button{position:absolute;left:10px;width:200px;height:80px}</style>
<a style="top:10px" href="/new" target=_blank>link</a>
<button style="top:110px" onclick="window.open('/new')">open</button>
<button style="top:210px" onclick="window.open('/new', '', 'noopener')">apart</button>
<script>addEventListener('load', () => requestAnimationFrame(() => fetch('/drawn')));</script>`;
/** A tab with a challenge, which closes once it is clicked and the challenge is gone. */
const NEW_TAB = `<title>new</title><style>button{position:absolute;left:10px;top:110px;width:200px;height:80px}</style><button>here</button>
<div id=px-captcha style="width:300px;height:100px"></div>
<script>addEventListener('load', () => requestAnimationFrame(() => fetch('/opened')));
document.querySelector('button').onclick = () => document.querySelector('div').remove();</script>`;

type Telemetry = { enabled: boolean } | { browser: Record<string, { enabled: boolean }> };
const ON = { enabled: true };
const CAPTURED: Telemetry = { browser: { page: ON, interaction: ON, captcha: ON } };

let service: ServiceUnderTest;
let site: Site;
let id: string;

it.beforeAll(async ({ service: shared }) => {
  service = shared;
  site = await startSite({ '/': OPENER, '/provider': PROVIDER, '/links': LINKS, '/new': NEW_TAB });
});
afterAll(() => {
  site.close();
});

async function openSession(telemetry?: Telemetry, path = '/'): Promise<string> {
  const start = { start_url: `${site.origin}${path}`, viewport: { width: 1000, height: 700 } };
  const session = await service.kernel.browsers.create({ ...start, ...(telemetry === undefined ? {} : { telemetry }) });
  id = session.session_id;
  await asked('/drawn');
  return session.cdp_ws_url;
}
const asked = (path: string): Promise<void> =>
  eventually(() => {
    expect(site.requests).toContain(path);
  });
const click = (): Promise<unknown> => service.kernel.browsers.computer.clickMouse(id, { x: 60, y: 40 });

beforeEach(() => {
  site.requests.length = 0;
});
afterEach(async () => {
  await service.kernel.browsers.deleteByID(id);
});

describe('a popup', () => {
  const runsBesideItsOpener = async (): Promise<void> => {
    await click();
    await asked('/went-on');
    await asked('/began-alone');
    await service.kernel.browsers.computer.captureScreenshot(id);
    // The popup is in front now, so the click goes to it and closes it.
    await click();
    await asked('/allowed');
    await service.kernel.browsers.computer.captureScreenshot(id);
  };

  it('runs immediately if no client is connected', async () => {
    await openSession();
    await runsBesideItsOpener();
  });

  it('runs immediately if no client is connected and telemetry is captured', async () => {
    await openSession({ enabled: true });
    await runsBesideItsOpener();
  });

  it('runs immediately with a client that attaches to pages without pausing them', async () => {
    const client = new WebSocket(await openSession());
    await new Promise((resolve) => client.once('open', resolve));
    client.send(
      JSON.stringify({
        id: 1,
        method: 'Target.setAutoAttach',
        params: { autoAttach: true, waitForDebuggerOnStart: false, flatten: true },
      }),
    );
    await new Promise((resolve) => client.once('message', resolve));
    await runsBesideItsOpener();
    client.close();
  });

  describe('is left to a client that pauses new pages', () => {
    let browser: Browser;
    const connect = async (url: string): Promise<void> => {
      browser = await chromium.connectOverCDP(url);
      await browser.contexts()[0]?.addInitScript('window.preparedBy = "client"');
    };

    it.each([{ enabled: false }, { enabled: true }])('with telemetry $enabled', async (telemetry) => {
      await connect(await openSession(telemetry));
      await click();
      await asked('/went-on');
      await asked('/began-client');
      await browser.close();
    });

    it('until that client has disconnected', async () => {
      await connect(await openSession());
      await browser.close();
      await runsBesideItsOpener();
    });
  });
});

describe('a later tab emits the same events as the first one', () => {
  /** Clicks the frontmost tab, and waits until the click and the end of its challenge are recorded. */
  const isToldOf = async (): Promise<void> => {
    await asked('/opened');
    // Challenges are polled: the click must come after the challenge was detected.
    await eventually(async () => expect(await eventTypes()).toContain('page_navigation_settled'));
    await service.kernel.browsers.computer.clickMouse(id, { x: 60, y: 140 });
    await eventually(async () =>
      expect(await eventTypes()).toEqual(expect.arrayContaining(['interaction_click', 'captcha_challenge_result'])),
    );
  };
  /** The events of pages at `/new`. */
  const eventTypes = async (): Promise<string[]> => {
    const page = await service.kernel.browsers.telemetry.events(id, {
      limit: 100,
      category: ['page', 'interaction', 'captcha'],
    });
    const types: string[] = [];
    for await (const envelope of page) {
      const { type, data } = TelemetryEnvelope.parse(envelope).event;
      if (JSON.stringify(data).includes('/new"')) types.push(type);
    }
    return types;
  };

  it.each([
    ['a link', 50],
    ['window.open', 150],
    ['window.open without an opener', 250],
  ])('opened by %s', async (_, y) => {
    await openSession(CAPTURED, '/links');
    await service.kernel.browsers.computer.clickMouse(id, { x: 60, y });
    await isToldOf();
  });

  it('opened by a client', async () => {
    const client = new WebSocket(await openSession(CAPTURED));
    await new Promise((resolve) => client.once('open', resolve));
    client.send(JSON.stringify({ id: 1, method: 'Target.createTarget', params: { url: `${site.origin}/new` } }));
    await isToldOf();
    client.close();
  });
});
