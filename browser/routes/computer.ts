import type { z } from 'zod';
import type { BrowserRoute } from '../../contract/browser-routes.ts';
import { BROWSER_ROUTES } from '../../contract/browser-routes.ts';
import { runBatch } from '../computer/batch.ts';
import { readClipboard, writeClipboard } from '../computer/clipboard.ts';
import { pickInFocusedControl, readFocusedControl } from '../computer/focused-control.ts';
import { pressKeys, typeText } from '../computer/keyboard.ts';
import { clickMouse, dragMouse, moveMouse, scroll } from '../computer/mouse.ts';
import { takeScreenshot } from '../computer/screenshot.ts';
import { settleInput } from '../computer/settle.ts';
import { openEventStream } from '../../http/event-stream.ts';
import { pageOf } from '../http/caller.ts';
import type { Router } from '../http/router.ts';
import { streamScreencast } from '../screen/screencast.ts';
import type { Session } from '../session/session.ts';

/**
 * Waits until the service knows of the pages that its clients have closed: Chromium notifies all connections at once, but a client may
 * act on the news before the service has read it, and input to a closing page is lost.
 */
async function syncPages({ chromium: { pages, cdp } }: Session): Promise<void> {
  if (pages.all().length > 1) await cdp.send('Browser.getVersion').catch(() => undefined);
}

/** `POST /browsers/{id}/computer/…`: mouse, keyboard and screen. The actions of a session run one at a time. */
export function computerRoutes({ inSession }: Router): void {
  const action = <Body extends z.ZodType>(
    contract: BrowserRoute<z.ZodType<{ id: string }>, z.ZodType, Body, z.ZodVoid>,
    run: (session: Session, input: z.output<Body>) => Promise<void>,
  ): void => {
    inSession(contract, (session, { request, body }) =>
      session.exclusively(async () => {
        await syncPages(session);
        session.input.requiredPageId = pageOf(request);
        try {
          await run(session, body);
        } finally {
          session.input.requiredPageId = null;
        }
        await settleInput(session);
      }),
    );
  };
  action(BROWSER_ROUTES.clickMouse, clickMouse);
  action(BROWSER_ROUTES.moveMouse, moveMouse);
  action(BROWSER_ROUTES.typeText, typeText);
  action(BROWSER_ROUTES.pressKey, pressKeys);
  action(BROWSER_ROUTES.scroll, scroll);
  action(BROWSER_ROUTES.dragMouse, dragMouse);
  action(BROWSER_ROUTES.batchComputerAction, runBatch);
  action(BROWSER_ROUTES.writeClipboard, writeClipboard);
  action(BROWSER_ROUTES.pickInFocusedControl, pickInFocusedControl);
  inSession(BROWSER_ROUTES.getFocusedControl, (session) => session.exclusively(() => readFocusedControl(session)));
  inSession(BROWSER_ROUTES.streamScreencast, async (session, { reply }) => {
    await streamScreencast(session, () => openEventStream(reply));
    return reply;
  });

  inSession(BROWSER_ROUTES.readClipboard, (session) =>
    session.exclusively(async () => ({ text: await readClipboard(session) })),
  );
  inSession(BROWSER_ROUTES.takeScreenshot, async (session, { body, reply }) =>
    reply.type('image/png').send(await takeScreenshot(session, body ?? {})),
  );
  inSession(BROWSER_ROUTES.getMousePosition, ({ input }) => ({ x: Math.round(input.x), y: Math.round(input.y) }));
  inSession(BROWSER_ROUTES.setCursor, (session, { body }) => {
    session.input.cursorHidden = body.hidden;
    return { ok: true };
  });
}
