import { chromium } from 'playwright-core';
import type { Browser } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import type { ServiceUnderTest, Site } from './service-under-test.ts';
import { eventually, startService, startSite } from './service-under-test.ts';

/** Opens a window when its button is clicked, and asks for `/went-on` once that is done: an opener that hangs never does. */
const OPENER = `<style>button{position:absolute;left:10px;top:10px;width:200px;height:80px}</style><button>log in</button><script>
document.querySelector('button').onclick = () => {
  open('/provider', 'provider', 'width=400,height=300');
  fetch('/went-on');
};
addEventListener('message', ({ data }) => fetch('/' + data));
addEventListener('load', () => requestAnimationFrame(() => fetch('/drawn')));
</script>`;
/** Tells its opener and goes, as the windows of login providers do. Says as what it began when it begins. */
const PROVIDER = `<style>button{position:absolute;left:10px;top:10px;width:200px;height:80px}</style><button>allow</button><script>
requestAnimationFrame(() => fetch('/began-' + (window.preparedBy ?? 'alone')));
document.querySelector('button').onclick = () => { opener.postMessage('allowed', '*'); close(); };
</script>`;

let service: ServiceUnderTest;
let site: Site;
let id: string;

beforeAll(async () => {
  service = await startService();
  site = await startSite({ '/': OPENER, '/provider': PROVIDER });
});
afterAll(async () => {
  await service.stop();
  site.close();
});

async function openSession(telemetry?: { enabled: boolean }): Promise<string> {
  const start = { start_url: `${site.origin}/`, viewport: { width: 1000, height: 700 } };
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

describe('a window that a page opens', () => {
  const runsBesideItsOpener = async (): Promise<void> => {
    await click();
    await asked('/went-on');
    await asked('/began-alone');
    await service.kernel.browsers.computer.captureScreenshot(id);
    // The window is in front now: the click goes to it, and it goes.
    await click();
    await asked('/allowed');
    await service.kernel.browsers.computer.captureScreenshot(id);
  };

  it('runs at once where nobody is connected', async () => {
    await openSession();
    await runsBesideItsOpener();
  });

  it('runs at once where nobody is connected and telemetry is taken', async () => {
    await openSession({ enabled: true });
    await runsBesideItsOpener();
  });

  it('runs at once beside a client that follows pages without holding them', async () => {
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

  describe('is left to a client that prepares it', () => {
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

    it('until that client has gone', async () => {
      await connect(await openSession());
      await browser.close();
      await runsBesideItsOpener();
    });
  });
});
