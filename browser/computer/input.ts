import { HoldfastError } from '../../contract/errors.ts';
import type { Page } from '../chromium/pages.ts';
import type { Session } from '../session/session.ts';
import { createCdpDevice } from './cdp-device.ts';
import type { InputDevice } from './device.ts';
import { createDisplayDevice } from './display-device.ts';
import { pageCrashed } from './errors.ts';

/** The active page and its input device. */
export interface InputTarget {
  page: Page;
  device: InputDevice;
}

/**
 * The active page of a session as a target of input. Throws `operation_failed` if there is none, it has crashed, a dialog blocks
 * it, or the input is for another page: input would be lost silently.
 */
export function inputTarget(session: Session): InputTarget {
  const page = readyPage(session);
  const device =
    session.chromium.display === null ? createCdpDevice(session, page) : createDisplayDevice(session, page);
  return { page, device };
}

/** The same through CDP only: for live viewers, which send many small moves. */
export function viewerTarget(session: Session): InputTarget {
  const page = readyPage(session);
  return { page, device: createCdpDevice(session, page) };
}

/** Whether a page still accepts input. */
export function isStillActive(session: Session, page: Page): boolean {
  return session.chromium.pages.active() === page && page.dialog === null && !page.crashed;
}

function readyPage(session: Session): Page {
  const page = session.chromium.pages.active();
  if (page === undefined) throw new HoldfastError('operation_failed', 'The session has no open page; open one first');
  if (session.input.requiredPageId !== null && session.input.requiredPageId !== page.targetId)
    throw new HoldfastError('operation_failed', 'The input is for a page that is not in front; activate it first');
  if (page.crashed) throw pageCrashed();
  if (page.dialog !== null) {
    throw new HoldfastError(
      'operation_failed',
      `A dialog (${page.dialog.type}) is open in the page; press Return to accept it or Escape to dismiss it`,
    );
  }
  return page;
}
