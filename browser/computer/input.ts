import { HoldfastError } from '../../contract/errors.ts';
import type { Page } from '../chromium/pages.ts';
import type { Session } from '../session/session.ts';
import { createCdpDevice } from './cdp-device.ts';
import type { InputDevice } from './device.ts';
import { createDisplayDevice } from './display-device.ts';
import { pageCrashed } from './errors.ts';

/** Input to the page that is in use. */
export interface InputTarget {
  page: Page;
  device: InputDevice;
}

/**
 * The active page of a session as a target of input. Throws `operation_failed` when every page is closed, when it
 * has crashed, or when a dialog holds it: input would be lost without a word. So it does when the input is for another page.
 */
export function inputTarget(session: Session): InputTarget {
  const page = readyPage(session);
  const device =
    session.chromium.display === null ? createCdpDevice(session, page) : createDisplayDevice(session, page);
  return { page, device };
}

/** The same through the browser's protocol alone: for a viewer, whose many small moves come as they are made. */
export function viewerTarget(session: Session): InputTarget {
  const page = readyPage(session);
  return { page, device: createCdpDevice(session, page) };
}

/** Whether input that was meant for a page can go on to it. */
export function isStillActive(session: Session, page: Page): boolean {
  return session.chromium.pages.active() === page && page.dialog === null && !page.crashed;
}

function readyPage(session: Session): Page {
  const page = session.chromium.pages.active();
  if (page === undefined) throw new HoldfastError('operation_failed', 'The session has no open page; open one first');
  if (session.input.requiredPageId !== null && session.input.requiredPageId !== page.targetId)
    throw new HoldfastError('operation_failed', 'Another page is in front of the one that this input is for');
  if (page.crashed) throw pageCrashed();
  if (page.dialog !== null) {
    throw new HoldfastError(
      'operation_failed',
      `A dialog (${page.dialog.type}) is open in the page; press Return to accept it or Escape to dismiss it`,
    );
  }
  return page;
}
